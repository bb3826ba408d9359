package pando.sim.fault;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;

/** The faults of one run: which may strike, when they do, and how often they did. */
public final class Faults {
  private final RandomGenerator random;

  /** How often each enabled fault struck. */
  private final Map<Fault, Integer> counts = new EnumMap<>(Fault.class);

  private boolean armed;

  /**
   * Prepares the faults of a run.
   *
   * @param random decides
   */
  public Faults(Set<Fault> enabled, RandomGenerator random) {
    this.random = random;
    enabled.forEach(fault -> counts.put(fault, 0));
  }

  /** Lets faults strike, or not, from now on. */
  public void arm(boolean on) {
    armed = on && !counts.isEmpty();
  }

  /** Decides whether a fault strikes, and counts it. */
  public boolean strikes(Fault fault) {
    if (!armed || !counts.containsKey(fault) || random.nextDouble() >= fault.chance()) {
      return false;
    }
    counts.merge(fault, 1, Integer::sum);
    return true;
  }

  /** Decides whether a fault that strikes once does so now. */
  public boolean strikesOnce(Fault fault) {
    return counts.getOrDefault(fault, 0) == 0 && strikes(fault);
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
