import org.jspecify.annotations.NullMarked;
import pando.durable.holder.LogService;
import pando.fabric.server.CallHandler;

/** Indexes whose changes are in a log: what was acknowledged is there after a crash. */
@NullMarked
module pando.durable {
  requires static transitive org.jspecify;
  requires transitive pando.index;
  requires transitive pando.journal;

  exports pando.durable;

  provides CallHandler with
      LogService;
}
