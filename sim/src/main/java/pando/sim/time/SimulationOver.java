package pando.sim.time;

/** Ends a client whose simulation is over. Not for code under simulation to catch. */
final class SimulationOver extends Error {
  private static final long serialVersionUID = 1L;

  SimulationOver() {
    super("the simulation is over", null, false, false);
  }
}
