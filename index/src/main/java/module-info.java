import org.jspecify.annotations.NullMarked;

/** Ordered indexes over disaggregated memory: one interface, and one package for each system. */
@NullMarked
@SuppressWarnings("module") // Those that packages are exported to are compiled later.
module pando.index {
  requires static transitive org.jspecify;
  requires transitive pando.fabric;

  exports pando.index;
  exports pando.index.blob to
      pando.bench,
      pando.map;
  exports pando.index.bytes;
  exports pando.index.deft;
  exports pando.index.dex;
  exports pando.index.orca;
  exports pando.index.rolex;
  exports pando.index.session to
      pando.client;
  exports pando.index.settings to
      pando.bench,
      pando.map;
  exports pando.index.sherman;
}
