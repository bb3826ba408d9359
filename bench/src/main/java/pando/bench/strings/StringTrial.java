package pando.bench.strings;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import pando.bench.records.Mix;
import pando.bench.workload.Distribution;
import pando.cli.WrongResultException;
import pando.cli.text.Progress;
import pando.fabric.VerbCounters;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;

/**
 * One thread's operations on strings, in an index and, in turns, in a {@link ConcurrentSkipListMap}
 * that has the same entries. Both are given the same strings; the index has to encode them.
 */
public final class StringTrial implements AutoCloseable {
  private static final int TURN = 20_000;

  private final StringKeySet keys;
  private final ByteIndex index;
  private final ByteSession session;
  private final @Nullable ConcurrentSkipListMap<String, Long> peer;
  private final Distribution.Draw draw;
  private final SplittableRandom random;
  private final String[] drawn = new String[TURN];
  private final long[] places = new long[TURN];
  private final boolean[] updates = new boolean[TURN];
  private final MemorySegment value = MemorySegment.ofArray(new byte[Long.BYTES]);

  /**
   * Opens a session of an index, and loads a map.
   *
   * @param loaded with these keys; closed after the trial
   * @param theta skew of the operations
   * @param seed of the operations
   * @param withPeer whether there is a map
   */
  public StringTrial(
      LoadedStrings loaded, StringKeySet keys, double theta, long seed, boolean withPeer) {
    this.keys = keys;
    this.index = loaded.index();
    this.random = new SplittableRandom(seed);
    this.draw = Distribution.ZIPFIAN.over(keys.count(), theta);
    this.peer = withPeer ? filled(keys) : null;
    this.session = index.session();
  }

  /** Fills a map in the order of keys, so that neighbours are near each other. */
  private static ConcurrentSkipListMap<String, Long> filled(StringKeySet keys) {
    ConcurrentSkipListMap<String, Long> map = new ConcurrentSkipListMap<>();
    for (long place = 0; place < keys.count(); place++) {
      map.put(keys.key(place), place);
    }
    return map;
  }

  /**
   * What some operations took.
   *
   * @param nanos in the index
   * @param peerNanos in the map, 0 if there is none
   * @param verbs of the index
   */
  public record Result(long operations, long nanos, long peerNanos, VerbCounters verbs) {
    /** Returns million operations a second. */
    public double mops() {
      return operations * 1e3 / nanos;
    }

    /** Returns million operations a second of the map. */
    public double peerMops() {
      return operations * 1e3 / peerNanos;
    }
  }

  /**
   * Runs operations, in turns of the index and of the map.
   *
   * @param updateShare share of the operations that replace a value, by the one that it has; the
   *     others are lookups
   */
  public Result run(String task, long operations, double updateShare) {
    VerbCounters before = index.verbs();
    long nanos = 0;
    long peerNanos = 0;
    long done = 0;
    try (Progress progress = Progress.of(task, operations)) {
      for (; done < operations; done += TURN) {
        draw(updateShare);
        long start = System.nanoTime();
        turn();
        nanos += System.nanoTime() - start;
        if (peer != null) {
          start = System.nanoTime();
          peerTurn(peer);
          peerNanos += System.nanoTime() - start;
        }
        progress.step(TURN);
      }
    }
    VerbCounters verbs = index.verbs();
    verbs.subtract(before);
    return new Result(done, nanos, peerNanos, verbs);
  }

  private void draw(double updateShare) {
    for (int i = 0; i < TURN; i++) {
      // ranks that follow each other are far apart in the order of keys
      long rank = draw.next(random);
      places[i] = Long.remainderUnsigned(Mix.mix(rank), keys.count());
      drawn[i] = keys.key(places[i]);
      updates[i] = random.nextDouble() < updateShare;
    }
  }

  private void turn() {
    for (int i = 0; i < TURN; i++) {
      MemorySegment key = LoadedStrings.encoded(drawn[i]);
      if (updates[i]) {
        value.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, places[i]);
        check(session.update(key, value), places[i], places[i]);
      } else {
        boolean found = session.get(key);
        long seen = found ? session.value().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) : -1;
        check(found, seen, places[i]);
      }
    }
  }

  private void peerTurn(ConcurrentSkipListMap<String, Long> map) {
    for (int i = 0; i < TURN; i++) {
      if (updates[i]) {
        check(map.replace(drawn[i], places[i]) != null, places[i], places[i]);
      } else {
        Long seen = map.get(drawn[i]);
        check(seen != null, seen == null ? -1 : seen, places[i]);
      }
    }
  }

  private static void check(boolean found, long value, long expected) {
    if (!found || value != expected) {
      throw new WrongResultException(
          "wrong answer: found=%s, value=%s, expected=%s".formatted(found, value, expected));
    }
  }

  /** Ends the session; the index stays open. */
  @Override
  public void close() {
    session.close();
  }
}
