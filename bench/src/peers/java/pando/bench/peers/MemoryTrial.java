package pando.bench.peers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import pando.bench.peers.MemoryKeys.Batch;
import pando.bench.peers.Peer.PeerSession;
import pando.bench.workload.Distribution;

/** Operations of threads on a loaded store. Keys are made before the clock starts. */
final class MemoryTrial {
  private static final int BATCH = 10_000;
  private static final int SCANNED = 100;
  private static final double THETA = 0.99;

  /** The operations, in the order in which they are measured: inserts change the store. */
  enum Operation {
    LOOKUPS,
    UPDATES,
    SCANS,
    INSERTS
  }

  private final Peer peer;
  private final MemoryKeys keys;
  private final AtomicLong inserted = new AtomicLong();
  private final SplittableRandom random = new SplittableRandom(1);

  MemoryTrial(Peer peer, MemoryKeys keys) {
    this.peer = peer;
    this.keys = keys;
  }

  /**
   * Runs operations. To insert, one thread and then two have a third of the keys that are left for
   * each thread, and end early where they have no more.
   *
   * @param nanos for which each thread runs them, after a third of it as a warm-up
   * @return how many are done a second, of all threads
   */
  double run(Operation operation, int threads, long nanos)
      throws InterruptedException, ExecutionException {
    List<Callable<Double>> tasks = new ArrayList<>();
    for (int thread = 0; thread < threads; thread++) {
      SplittableRandom its = random.split();
      tasks.add(() -> {
        try (PeerSession session = peer.session()) {
          double _ = run(session, operation, its, nanos / 3, keys.count() / 12);
          return run(session, operation, its, nanos, keys.count() / 4);
        }
      });
    }
    double sum = 0;
    try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      for (Future<Double> each : executor.invokeAll(tasks)) {
        sum += each.get();
      }
    }
    return sum;
  }

  private double run(
      PeerSession session, Operation operation, SplittableRandom its, long nanos, long insertsMax) {
    Distribution.Draw draw = Distribution.ZIPFIAN.over(keys.count(), THETA);
    boolean inserts = operation == Operation.INSERTS;
    int size = operation == Operation.SCANS ? BATCH / 10 : BATCH;
    long done = 0;
    long taken = 0;
    while (taken < nanos && (!inserts || done < insertsMax)) {
      if (inserts) {
        size = (int) Math.min(BATCH, insertsMax - done);
      }
      long[] numbers = new long[size];
      if (inserts) {
        long first = keys.count() + inserted.getAndAdd(size);
        Arrays.setAll(numbers, i -> first + i);
      } else {
        Arrays.setAll(numbers, _ -> draw.next(its));
      }
      Batch batch = keys.batch(numbers);
      long start = System.nanoTime();
      for (int i = 0; i < size; i++) {
        if (keys.isStrings()) {
          operate(session, operation, batch.strings()[i], i);
        } else {
          operate(session, operation, batch.words()[i], i);
        }
      }
      taken += System.nanoTime() - start;
      done += size;
    }
    return taken == 0 ? 0 : done * 1e9 / taken;
  }

  private static void operate(PeerSession session, Operation operation, long key, long value) {
    switch (operation) {
      case LOOKUPS -> check(session.get(key));
      case UPDATES -> session.put(key, value);
      case SCANS -> check(session.scan(key, SCANNED) > 0);
      case INSERTS -> session.insert(key, value);
    }
  }

  private static void operate(PeerSession session, Operation operation, byte[] key, long value) {
    switch (operation) {
      case LOOKUPS -> check(session.get(key));
      case UPDATES, INSERTS -> session.put(key, value);
      case SCANS -> check(session.scan(key, SCANNED) > 0);
    }
  }

  private static void check(boolean found) {
    if (!found) {
      throw new IllegalStateException("a key is missing");
    }
  }
}
