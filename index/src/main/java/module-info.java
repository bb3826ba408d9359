import org.jspecify.annotations.NullMarked;
import pando.fabric.server.CallHandler;
import pando.index.SystemProvider;

/** Ordered indexes over disaggregated memory: one interface, ORCA, DEX, and byte strings. */
@NullMarked
@SuppressWarnings("module") // Those that packages are exported to are compiled later.
module pando.index {
  requires static transitive org.jspecify;
  requires transitive pando.fabric;

  exports pando.index;
  exports pando.index.blob to
      pando.bench,
      pando.map;
  exports pando.index.bugs to
      pando.baselines,
      pando.client;
  exports pando.index.bytes;
  exports pando.index.dex;
  exports pando.index.host to
      pando.baselines;
  exports pando.index.load to
      pando.baselines;
  exports pando.index.orca;
  exports pando.index.pool to
      pando.baselines;
  exports pando.index.session to
      pando.baselines,
      pando.client,
      pando.durable;
  exports pando.index.settings to
      pando.baselines,
      pando.cli,
      pando.map;

  uses CallHandler;
  uses SystemProvider;
}
