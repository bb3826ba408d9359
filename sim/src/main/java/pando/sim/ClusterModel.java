package pando.sim;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.sim.time.Simulation;

/**
 * The costs of operations in a cluster, in virtual time. The defaults are those of 100 Gbit/s cards
 * of the ConnectX-5 class on PCIe 3, as the papers used; docs/simulator.md gives the source of
 * each. Immutable; {@link #documentation()} lists every constant by the name that {@link #with}
 * takes.
 */
public final class ClusterModel {
  private static final ClusterModel DEFAULTS = new ClusterModel(initial());

  private final Map<Constant, Double> values;

  /**
   * The constants: each with its default, its range and its meaning. The name contains the unit.
   */
  public enum Constant {
    POST_NANOS(150, "processor time to build a work request and ring the doorbell"),
    POST_NEXT_NANOS(30, "processor time for each further request of a list"),
    POLL_NANOS(100, "processor time to poll a completion and go on"),
    DOORBELL_NANOS(250, "from the doorbell until the request is at the card"),
    WIRE_NANOS(450, "one way through cards, cable and switch"),
    JITTER_NANOS(100, "what a way may take longer, uniform"),
    MESSAGE_NANOS(18, "time of a card for each message, in each direction"),
    ACK_NANOS(6, "time of a card for an acknowledgement without payload"),
    BYTES_PER_NANO(12.1, 1e-6, 1e6, "bandwidth of a card, in each direction"),
    HEADER_BYTES(42, 0, 1e6, "bytes on the wire for each message besides its payload"),
    READ_NANOS(450, "from a READ's arrival until memory was read by DMA"),
    WRITE_NANOS(250, "from a WRITE's arrival until memory was written"),
    COMPLETION_NANOS(250, "from an answer's arrival until its completion entry is seen"),
    ATOMIC_SUCCESS_NANOS(450, "how long an atomic that stores keeps its bucket of host memory"),
    ATOMIC_EXTRA_NANOS(200, "additional time of an atomic's answer"),
    ATOMIC_FAILURE_NANOS(230, "how long a CAS that does not store keeps its bucket"),
    ATOMIC_BUCKETS(4096, 1, 1 << 20, "buckets of host memory by low address bits, a power of 2"),
    PARKED_MAX(16, 0, 1 << 20, "atomics that wait for a bucket before a card takes nothing more"),
    ON_CHIP_NANOS(9.1, "time of a card for an atomic on its own memory"),
    ON_CHIP_CONFLICT_NANOS(60, "how long such an atomic keeps its word"),
    FRAME_NANOS(
        12_600, "over TCP, processor time of a memory server to serve what came in one piece"),
    FRAME_NEXT_NANOS(900, "over TCP, its processor time for each further verb of that"),
    SOCKET_NANOS(5_400, "over TCP, processor time of a compute server to send or receive a piece"),
    SOCKET_NEXT_NANOS(800, "over TCP, its processor time for each further verb of the piece"),
    WAKE_NANOS(0, "over TCP, until a core or a processor without work goes on when some comes"),
    CALL_NANOS(550, "processor time of a memory server for a CALL to a handler"),
    SPACE_CALL_NANOS(300, "processor time of a memory server for a CALL about space"),
    CALL_UNIT_NANOS(12, "time for each further entry that a CALL returns"),
    OPERATION_NANOS(500, "processor time of an operation, all searches included"),
    STEP_NANOS(30_000, "processor time of a step of a background task, such as training a model"),
    SENDER_STEP_NANOS(500, "the same of a task that does little but issue verbs"),
    TIMEOUT_NANOS(1e6, "until a verb to a server that is down fails");

    private final double initial;
    private final double min;
    private final double max;
    private final String meaning;

    Constant(double initial, String meaning) {
      this(initial, 0, 1e12, meaning);
    }

    Constant(double initial, double min, double max, String meaning) {
      this.initial = initial;
      this.min = min;
      this.max = max;
      this.meaning = meaning;
    }

    private boolean isWhole() {
      return this == ATOMIC_BUCKETS || this == PARKED_MAX;
    }

    private void check(double value) {
      boolean fits =
          value >= min
              && value <= max
              && (!isWhole() || value == Math.rint(value))
              && (this != ATOMIC_BUCKETS || Integer.bitCount((int) value) == 1);
      if (!fits) {
        throw new IllegalArgumentException(
            "a constant of the model is out of range: name="
                + this
                + ", value="
                + plain(value)
                + ", least="
                + plain(min)
                + ", greatest="
                + plain(max)
                + ", meaning="
                + meaning);
      }
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  private ClusterModel(Map<Constant, Double> values) {
    this.values = values;
    values.forEach(Constant::check);
  }

  private static Map<Constant, Double> initial() {
    Map<Constant, Double> values = new EnumMap<>(Constant.class);
    for (Constant constant : Constant.values()) {
      values.put(constant, constant.initial);
    }
    return values;
  }

  /** Returns the calibrated model. */
  public static ClusterModel defaults() {
    return DEFAULTS;
  }

  /** Returns whether there is a constant of this name. */
  public static boolean has(String name) {
    return find(name) != null;
  }

  /** Returns a description of each constant by name, with its default. */
  public static Map<String, String> documentation() {
    Map<String, String> documentation = new LinkedHashMap<>();
    for (Constant constant : Constant.values()) {
      documentation.put(
          constant.toString(), constant.meaning + " (default " + plain(constant.initial) + ")");
    }
    return documentation;
  }

  /**
   * Returns this model with another value of one constant.
   *
   * @param name of the constant, such as {@code wire-nanos}
   * @throws IllegalArgumentException if no constant has this name, or the value is out of its range
   */
  public ClusterModel with(String name, double value) {
    Constant constant = find(name);
    if (constant == null) {
      throw new IllegalArgumentException(
          "no such constant of the model: name="
              + name
              + ", known="
              + Stream.of(Constant.values())
                  .map(Constant::toString)
                  .collect(Collectors.joining(", ")));
    }
    Map<Constant, Double> changed = new EnumMap<>(values);
    changed.put(constant, value);
    return new ClusterModel(changed);
  }

  /** Returns the value of a constant, in the unit in its name. */
  public double value(Constant constant) {
    return values.getOrDefault(constant, Double.NaN);
  }

  /** Returns a time in picoseconds. */
  public long picos(Constant time) {
    return Math.round(value(time) * Simulation.NANO);
  }

  private static @Nullable Constant find(String name) {
    return Stream.of(Constant.values())
        .filter(constant -> constant.toString().equals(name))
        .findFirst()
        .orElse(null);
  }

  private static String plain(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.valueOf(value);
  }
}
