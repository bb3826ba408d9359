package pando.sim;

import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What things cost in a cluster: times in nanoseconds of virtual time. The defaults are those of
 * 100 Gbit/s cards of the ConnectX-5 class on PCIe 3, as the papers used; docs/simulator.md tells
 * where each comes from.
 *
 * @param postNanos processor time to build a work request and ring the doorbell
 * @param postNextNanos processor time for each further request of a list
 * @param pollNanos processor time to poll a completion and go on
 * @param doorbellNanos from the doorbell until the request is at the card
 * @param messageNanos time of a card for each message, in each direction
 * @param ackNanos time of a card for an acknowledgement without payload
 * @param bytesPerNano bandwidth of a card, in each direction
 * @param headerBytes bytes on the wire for each message beside its payload
 * @param wireNanos one way through cards, cable and switch
 * @param jitterNanos what a way may take longer, uniform
 * @param readNanos from a READ's arrival until memory was read by DMA
 * @param writeNanos from a WRITE's arrival until memory was written
 * @param completionNanos from an answer's arrival until its completion entry is seen
 * @param atomicSuccessNanos how long an atomic that stores keeps its bucket of host memory
 * @param atomicFailureNanos how long a CAS that does not store keeps it
 * @param atomicExtraNanos what an atomic's answer takes beside
 * @param atomicBuckets buckets of host memory by the low address bits, a power of 2
 * @param parkedMax atomics that wait for a bucket before the card takes nothing further
 * @param onChipNanos time of a card for an atomic on its own memory
 * @param onChipConflictNanos how long such an atomic keeps its word
 * @param callNanos processor time of a memory server for a CALL to a handler
 * @param spaceCallNanos processor time of a memory server for a CALL about space
 * @param operationNanos processor time of a compute server for an operation, all searches included
 * @param timeoutNanos until a verb to a server that is down fails
 */
public record ClusterModel(
    double postNanos,
    double postNextNanos,
    double pollNanos,
    double doorbellNanos,
    double messageNanos,
    double ackNanos,
    double bytesPerNano,
    double headerBytes,
    double wireNanos,
    double jitterNanos,
    double readNanos,
    double writeNanos,
    double completionNanos,
    double atomicSuccessNanos,
    double atomicFailureNanos,
    double atomicExtraNanos,
    double atomicBuckets,
    double parkedMax,
    double onChipNanos,
    double onChipConflictNanos,
    double callNanos,
    double spaceCallNanos,
    double operationNanos,
    double timeoutNanos) {

  private static final ClusterModel DEFAULTS =
      new ClusterModel(
          150, 30, 100, 250, 18, 6, 12.1, 42, 450, 100, 450, 250, 250, 450, 190, 200, 4096, 16, 9.1,
          60, 550, 300, 500, 1e6);

  /** Checks that no cost is negative, and what must be positive. */
  public ClusterModel {
    double[] all = {
      postNanos,
      postNextNanos,
      pollNanos,
      doorbellNanos,
      messageNanos,
      ackNanos,
      headerBytes,
      wireNanos,
      jitterNanos,
      readNanos,
      writeNanos,
      completionNanos,
      atomicSuccessNanos,
      atomicFailureNanos,
      atomicExtraNanos,
      parkedMax,
      onChipNanos,
      onChipConflictNanos,
      callNanos,
      spaceCallNanos,
      operationNanos,
      timeoutNanos
    };
    if (Arrays.stream(all).anyMatch(cost -> !(cost >= 0 && cost <= 1e12))) {
      throw new IllegalArgumentException(
          "a cost is out of range, 0 to 1e12: " + Arrays.toString(all));
    }
    if (!(bytesPerNano > 0)) {
      throw new IllegalArgumentException("bandwidth must be above 0: bytesPerNano=" + bytesPerNano);
    }
    if (!(atomicBuckets >= 1 && atomicBuckets <= 1 << 20)
        || Integer.bitCount((int) atomicBuckets) != 1) {
      throw new IllegalArgumentException(
          "buckets must be a power of 2: atomicBuckets=" + atomicBuckets);
    }
  }

  /** Returns the calibrated model. */
  public static ClusterModel defaults() {
    return DEFAULTS;
  }

  /** Tells whether there is a constant of this name, written with hyphens. */
  public static boolean has(String name) {
    return Arrays.stream(ClusterModel.class.getRecordComponents())
        .anyMatch(component -> hyphenated(component).equals(name));
  }

  /**
   * Returns this model with another value of one constant.
   *
   * @param name of the constant, with hyphens, such as {@code wire-nanos}
   */
  public ClusterModel with(String name, double value) {
    if (!has(name)) {
      throw new IllegalArgumentException(
          "no such constant of the model: name=" + name + ", known=" + names());
    }
    RecordComponent[] components = ClusterModel.class.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    try {
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        values[i] =
            hyphenated(components[i]).equals(name)
                ? (Object) value
                : components[i].getAccessor().invoke(this);
      }
      Constructor<ClusterModel> constructor = ClusterModel.class.getDeclaredConstructor(types);
      return constructor.newInstance(values);
    } catch (ReflectiveOperationException e) {
      if (e.getCause() instanceof IllegalArgumentException refused) {
        throw refused;
      }
      throw new LinkageError("a constant of the model cannot be set", e);
    }
  }

  private static String names() {
    return Arrays.stream(ClusterModel.class.getRecordComponents())
        .map(ClusterModel::hyphenated)
        .collect(Collectors.joining(", "));
  }

  private static String hyphenated(RecordComponent component) {
    return component.getName().replaceAll("([A-Z])", "-$1").toLowerCase(java.util.Locale.ROOT);
  }
}
