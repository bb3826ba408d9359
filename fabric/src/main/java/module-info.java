import org.jspecify.annotations.NullMarked;

/**
 * Disaggregated memory: memory servers that hold bytes, and the one-sided verbs that compute
 * servers act on them with. Depends on the JDK alone.
 */
@NullMarked
module pando.fabric {
  requires static org.jspecify;

  exports pando.fabric;
  exports pando.fabric.layout;
  exports pando.fabric.local;
  exports pando.fabric.memory;
  exports pando.fabric.pool;
  exports pando.fabric.server;
  exports pando.fabric.shm;
}
