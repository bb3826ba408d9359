import org.jspecify.annotations.NullMarked;
import pando.baselines.Baselines;
import pando.index.SystemProvider;

/** The systems of papers that ORCA and DEX are compared with, one package for each. */
@NullMarked
module pando.baselines {
  requires static transitive org.jspecify;
  requires transitive pando.index;

  exports pando.baselines.deft;
  exports pando.baselines.emt;
  exports pando.baselines.rolex;
  exports pando.baselines.sherman;
  exports pando.baselines.smart;

  provides SystemProvider with
      Baselines;
}
