package pando.bench.run;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import pando.bench.records.Mix;
import pando.bench.records.Records;
import pando.bench.subject.ValueStore;
import pando.cli.WrongResultException;
import pando.cli.text.Progress;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;

/**
 * Puts and removes values of random lengths, to compare the pool that is left with one into which
 * the same entries were put in order of their keys.
 */
public final class ValueChurn {
  /** Greatest number of records that are there at a time. */
  public static final int PRESENT_MAX = 1 << 29;

  private static final int REPORT_EVERY = 1 << 12;

  /** A pool, and an empty map in it. Closed separately: first the map. */
  public record Subject(Fabric fabric, ValueStore map) {}

  private final Records records;
  private final int changes;
  private final int least;
  private final int most;
  private final SplittableRandom random;

  /** For each record, the number of the change that put its value; 0 if it is not there. */
  private final int[] putBy;

  private final byte[] buffer;
  private final MemorySegment bytes;

  /**
   * Prepares the run.
   *
   * @param present records that are there at a time, on the average, up to {@link #PRESENT_MAX}
   * @param changes puts and removals, about as many of each
   * @param least length of a value in bytes
   * @param most length of a value in bytes
   */
  public ValueChurn(Records records, int present, int changes, int least, int most) {
    this.records = records;
    this.changes = changes;
    this.least = least;
    this.most = most;
    this.random = new SplittableRandom(records.seed());
    this.putBy = new int[2 * present];
    this.buffer = new byte[most];
    this.bytes = MemorySegment.ofArray(buffer);
  }

  /**
   * The bytes of a pool whose map is closed.
   *
   * @param usedBytes of nodes and values, with the ends of chunks
   * @param takenBytes of chunks and parts of chunks in which such are
   */
  public record Taken(long usedBytes, long takenBytes) {
    private static Taken of(Fabric fabric) {
      return new Taken(
          fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum(),
          fabric.usage().stream().mapToLong(PoolUsage::reservedBytes).sum());
    }
  }

  /**
   * What was found.
   *
   * @param entries that were there at the end
   * @param valueBytes of their values
   * @param left the pool after all changes
   * @param fresh a pool with the same entries
   */
  public record Space(long entries, long valueBytes, Taken left, Taken fresh) {
    /** Returns by how much more the pool has of some bytes than the fresh one, as a share. */
    public double growth(ToLongFunction<Taken> bytes) {
      return (double) bytes.applyAsLong(left) / bytes.applyAsLong(fresh) - 1;
    }
  }

  /**
   * Runs it.
   *
   * @param source makes a pool and an empty map; called twice
   * @param inspect receives the map after all changes, before it is closed
   * @throws WrongResultException if an answer was wrong
   */
  public Space run(Supplier<Subject> source, Consumer<ValueStore> inspect) {
    Taken left =
        measure(
            source.get(),
            map -> {
              change(map);
              inspect.accept(map);
            });
    Taken fresh = measure(source.get(), this::load);
    long entries = 0;
    long valueBytes = 0;
    for (int record = 0; record < putBy.length; record++) {
      if (putBy[record] > 0) {
        entries++;
        valueBytes += length(record);
      }
    }
    return new Space(entries, valueBytes, left, fresh);
  }

  private static Taken measure(Subject subject, Consumer<ValueStore> step) {
    try (Fabric fabric = subject.fabric) {
      try (ValueStore map = subject.map) {
        step.accept(map);
      }
      return Taken.of(fabric);
    }
  }

  private void change(ValueStore map) {
    try (Progress progress = Progress.of("churn", changes)) {
      for (int change = 1; change <= changes; change++) {
        int record = random.nextInt(putBy.length);
        if (random.nextBoolean()) {
          put(map, record, change);
        } else {
          remove(map, record);
        }
        if (change % REPORT_EVERY == 0) {
          progress.step(REPORT_EVERY);
        }
      }
    }
  }

  private void put(ValueStore map, int record, int change) {
    int before = putBy[record];
    putBy[record] = change;
    boolean was = map.put(records.key(record), value(record));
    putBy[record] = before;
    check(map, record, was);
    putBy[record] = change;
  }

  private void remove(ValueStore map, int record) {
    check(map, record, map.remove(records.key(record)));
    putBy[record] = 0;
  }

  /** Checks what an operation has found: the whole value. */
  private void check(ValueStore map, int record, boolean was) {
    boolean right = was == putBy[record] > 0;
    if (right && was) {
      right = map.value().mismatch(value(record)) < 0;
    }
    if (!right) {
      throw new WrongResultException(
          "a record had another value: key=%s, found=%s, put=%s, seed=%s"
              .formatted(records.key(record), was, putBy[record], records.seed()));
    }
  }

  private int length(int record) {
    long mixed = Mix.mix(putBy[record]);
    return least + (int) Long.remainderUnsigned(mixed, most - least + 1L);
  }

  /** Returns the value that a record should have. */
  private MemorySegment value(int record) {
    int length = length(record);
    long mixed = Mix.mix(records.key(record) ^ putBy[record]);
    int at = 0;
    for (; at + Long.BYTES <= length; at += Long.BYTES) {
      bytes.set(ValueLayout.JAVA_LONG_UNALIGNED, at, mixed + at);
    }
    for (; at < length; at++) {
      buffer[at] = (byte) mixed;
    }
    return bytes.asSlice(0, length);
  }

  private void load(ValueStore map) {
    int[] sorted =
        LongStream.range(0, putBy.length)
            .filter(record -> putBy[(int) record] > 0)
            .map(records::key)
            .sorted()
            .mapToInt(key -> (int) records.record(key))
            .toArray();
    try (Progress progress = Progress.of("load", sorted.length)) {
      for (int record : sorted) {
        map.put(records.key(record), value(record));
        progress.step(1);
      }
    }
  }
}
