import org.jspecify.annotations.NullMarked;

/**
 * Clusters in virtual time: one thread runs many clients, over a model of network cards and
 * processors, from a seed.
 */
@NullMarked
module pando.sim {
  requires static transitive org.jspecify;
  requires transitive pando.fabric;

  exports pando.sim;
  exports pando.sim.fault;
  exports pando.sim.history;
}
