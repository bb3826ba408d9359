package pando.index;

import java.util.function.Supplier;

/**
 * What a process has acknowledged that is in its memory alone: it is lost where the process is.
 *
 * @param bytes about how many bytes it is: of keys and values, or of nodes
 * @param nanosMax how long ago its oldest was acknowledged, at the most, in nanoseconds; 0 if there
 *     is nothing, {@link Long#MAX_VALUE} where {@code write-back-interval} is 0
 */
public record Unwritten(long bytes, long nanosMax) {
  /** Nothing. */
  public static final Unwritten NONE = new Unwritten(0, 0);

  private static final double NANOS_OF_SECOND = 1e9;

  /** Names its meters. */
  public static void meters(Meters to, Supplier<Unwritten> unwritten) {
    to.slowGauge(
        "pando.unwritten.bytes",
        "Acknowledged changes that are in the memory of this process alone.",
        () -> unwritten.get().bytes());
    to.slowGauge(
        "pando.unwritten.seconds",
        "Greatest age of such a change; infinite where they wait without limit.",
        () -> unwritten.get().secondsMax());
  }

  /** Returns {@link #nanosMax} in seconds. */
  public double secondsMax() {
    return nanosMax == Long.MAX_VALUE ? Double.POSITIVE_INFINITY : nanosMax / NANOS_OF_SECOND;
  }

  /** Returns both together. */
  public Unwritten plus(Unwritten other) {
    return new Unwritten(bytes + other.bytes, Math.max(nanosMax, other.nanosMax));
  }
}
