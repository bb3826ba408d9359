package pando.bench.run;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.HdrHistogram.Histogram;
import pando.fabric.VerbCounters;

/** The measurements of one client, or of several together. Not thread-safe. */
public final class Measurement {
  private static final long LATENCY_NANOS_MAX = 600_000_000_000L;
  private static final int SIGNIFICANT_DIGITS = 3;

  /** Operations done. */
  public long operations;

  /** Operations per second: the sum over the clients of what each did in its time. */
  public double throughput;

  /** Values that were read, checked and right. */
  public long verified;

  /** Bytes of Java objects that the clients allocated. */
  public long allocatedBytes;

  /** Operations that found their leaf cached. */
  public long cacheHits;

  /** Operations that did not. */
  public long cacheMisses;

  /** Verbs issued. */
  public final VerbCounters verbs = new VerbCounters();

  private final Histogram latencies = noLatencies();

  /** Creates a measurement of nothing. */
  public Measurement() {}

  /** Returns an empty histogram of latencies in nanoseconds. */
  static Histogram noLatencies() {
    return new Histogram(1, LATENCY_NANOS_MAX, SIGNIFICANT_DIGITS);
  }

  /** Adds the latencies to others. */
  void addLatenciesTo(Histogram others) {
    others.add(latencies);
  }

  /** Notes how long one operation took. */
  public void recordLatency(long nanos) {
    latencies.recordValue(Math.clamp(nanos, 1, LATENCY_NANOS_MAX));
  }

  /** Adds what others measured at the same time. */
  public void add(Measurement other) {
    operations += other.operations;
    throughput += other.throughput;
    verified += other.verified;
    allocatedBytes += other.allocatedBytes;
    cacheHits += other.cacheHits;
    cacheMisses += other.cacheMisses;
    verbs.add(other.verbs);
    latencies.add(other.latencies);
  }

  /** Returns a count as a share of the operations. */
  public double perOperation(long count) {
    return operations == 0 ? 0 : (double) count / operations;
  }

  /** Returns the share of leaf accesses that the cache served, 0 if there were none. */
  public double cacheHitRatio() {
    long accesses = cacheHits + cacheMisses;
    return accesses == 0 ? 0 : (double) cacheHits / accesses;
  }

  /** Returns the nanoseconds within which so many percent of the operations ended. */
  public long latencyNanos(double percentile) {
    return latencies.getValueAtPercentile(percentile);
  }

  /** Writes this for another process of the same program. */
  public void write(DataOutput out) throws IOException {
    out.writeLong(operations);
    out.writeDouble(throughput);
    out.writeLong(verified);
    out.writeLong(allocatedBytes);
    out.writeLong(cacheHits);
    out.writeLong(cacheMisses);
    out.writeLong(verbs.reads);
    out.writeLong(verbs.writes);
    out.writeLong(verbs.atomics);
    out.writeLong(verbs.calls);
    out.writeLong(verbs.roundTrips);
    out.writeLong(verbs.bytesIn);
    out.writeLong(verbs.bytesOut);
    ByteBuffer histogram = ByteBuffer.allocate(latencies.getNeededByteBufferCapacity());
    int bytes = latencies.encodeIntoByteBuffer(histogram);
    out.writeInt(bytes);
    out.write(histogram.array(), 0, bytes);
  }

  /** Reads what {@link #write} wrote. */
  public static Measurement read(DataInput in) throws IOException {
    Measurement read = new Measurement();
    read.operations = in.readLong();
    read.throughput = in.readDouble();
    read.verified = in.readLong();
    read.allocatedBytes = in.readLong();
    read.cacheHits = in.readLong();
    read.cacheMisses = in.readLong();
    read.verbs.reads = in.readLong();
    read.verbs.writes = in.readLong();
    read.verbs.atomics = in.readLong();
    read.verbs.calls = in.readLong();
    read.verbs.roundTrips = in.readLong();
    read.verbs.bytesIn = in.readLong();
    read.verbs.bytesOut = in.readLong();
    byte[] histogram = new byte[in.readInt()];
    in.readFully(histogram);
    read.latencies.add(
        Histogram.decodeFromByteBuffer(ByteBuffer.wrap(histogram), LATENCY_NANOS_MAX));
    return read;
  }
}
