import org.jspecify.annotations.NullMarked;

/**
 * Disaggregated memory: memory servers that hold bytes, and the one-sided verbs that compute
 * servers act on them with. Depends on the JDK alone.
 */
@NullMarked
@SuppressWarnings("module") // Those that packages are exported to are compiled later.
module pando.fabric {
  requires jdk.net;
  requires static org.jspecify;

  exports pando.fabric;
  exports pando.fabric.base to
      pando.sim;
  exports pando.fabric.lane to
      pando.bench,
      pando.client,
      pando.sim;
  exports pando.fabric.layout to
      pando.sim;
  exports pando.fabric.local;
  exports pando.fabric.memory to
      pando.baselines,
      pando.bench,
      pando.cli,
      pando.client,
      pando.cluster,
      pando.doors,
      pando.durable,
      pando.index,
      pando.journal,
      pando.map,
      pando.metrics,
      pando.sim;
  exports pando.fabric.pool to
      pando.baselines,
      pando.index,
      pando.sim;
  exports pando.fabric.server;
  exports pando.fabric.shm;
  exports pando.fabric.tcp;
  exports pando.fabric.verbs;
  exports pando.fabric.wire to
      pando.client;
}
