package pando.sim.network;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import pando.sim.fault.Fault;
import pando.sim.time.Simulation;

/** The faults of one run: decides which strike, when and for how long, and counts them. */
public final class Faults {
  private static final int NEVER = -1;

  private final RandomGenerator random;

  /** How often each enabled fault struck. */
  private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);

  private boolean armed;

  /**
   * Prepares the faults of a run.
   *
   * @param random source of all decisions
   */
  public Faults(Set<Fault> enabled, RandomGenerator random) {
    this.random = random;
    enabled.forEach(fault -> counts.put(fault, 0));
  }

  /** Switches all faults on or off from now on. */
  public void arm(boolean on) {
    armed = on && !counts.isEmpty();
  }

  /** Decides whether a fault strikes, and counts it. */
  public boolean strikes(Fault fault) {
    return strikes(fault, fault.strikesOnce() ? 1 : Integer.MAX_VALUE);
  }

  /** As {@link #strikes(Fault)}, of a fault that strikes so many times at most. */
  public boolean strikes(Fault fault, int most) {
    return counts.getOrDefault(fault, 0) < most && strikesAgain(fault);
  }

  /** As {@link #strikes}, also of a fault that strikes once, and has struck. */
  public boolean strikesAgain(Fault fault) {
    int struck = counts.getOrDefault(fault, NEVER);
    if (!armed || struck == NEVER || random.nextDouble() >= fault.chance()) {
      return false;
    }
    counts.put(fault, struck + 1);
    return true;
  }

  /**
   * Decides whether a fault strikes, and for how long, in picoseconds, at least 1; 0 if it does
   * not.
   */
  public long picosOf(Fault fault) {
    return strikes(fault) ? 1 + draw(fault.nanosMax() * Simulation.NANO) : 0;
  }

  /** Returns a number from 0 to {@code bound} - 1. */
  public long draw(long bound) {
    return random.nextLong(bound);
  }

  /** Returns how often each enabled fault struck. */
  public Map<Fault, Integer> counts() {
    return Collections.unmodifiableMap(new EnumMap<>(counts));
  }
}
