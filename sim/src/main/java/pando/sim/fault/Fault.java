package pando.sim.fault;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What can go wrong. Each has a chance, for each verb unless said. */
public enum Fault {
  /** The lines of a READ or WRITE land in random order, spread over time. */
  TORN(0.3, true),
  /** A message takes longer, and is overtaken by those to other servers. */
  DELAY(0.05, true),
  /** A client stands still for long: a zombie afterwards. */
  PAUSE(0.001, true),
  /** A clock jumps, forwards or backwards. */
  CLOCK_JUMP(0.001, true),
  /** A verb takes effect, and its completion is lost. */
  LOST_COMPLETION(0.0005, false),
  /** A doorbell list ends in the middle, with an error. */
  BROKEN_LIST(0.002, false),
  /** A compute server and a memory server do not hear of each other for a while. */
  PARTITION(0.0005, false),
  /** A memory server has no chunk left, for one CALL. */
  FULL_POOL(0.2, false),
  /** A compute server dies at a verb. Once in a run. */
  CRASH_COMPUTE(0.0005, false),
  /** A memory server dies and comes back with its memory. Once in a run. */
  CRASH_MEMORY(0.0002, false),
  /** A memory server dies and comes back with empty memory. Once in a run. */
  WIPE_MEMORY(0.0002, false);

  private final double chance;
  private final boolean harmless;

  Fault(double chance, boolean harmless) {
    this.chance = chance;
    this.harmless = harmless;
  }

  /** Returns the chance that it strikes. */
  public double chance() {
    return chance;
  }

  /** Tells whether every index must behave as if it had not happened. */
  public boolean isHarmless() {
    return harmless;
  }

  /**
   * Returns the fault of a name.
   *
   * @throws IllegalArgumentException where there is none
   */
  public static Fault of(String name) {
    return Arrays.stream(values())
        .filter(fault -> fault.toString().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException(
                "no such fault: name="
                    + name
                    + ", known="
                    + Arrays.stream(values())
                        .map(Fault::toString)
                        .collect(Collectors.joining(", "))));
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
