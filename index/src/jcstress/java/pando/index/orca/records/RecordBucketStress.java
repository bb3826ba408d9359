package pando.index.orca.records;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.Proxy;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.index.orca.parts.CacheParts;

/** Two threads at one bucket of the cache of records, under the Java memory model. */
public final class RecordBucketStress {
  private static final long KEY = 5;
  private static final long OTHER = 6;
  private static final Backoff BACKOFF = _ -> Thread.onSpinWait();

  private RecordBucketStress() {}

  /** A pair of buckets, in memory of its own. */
  public static class Bucket {
    final RecordCache cache =
        new RecordCache(
            CacheParts.of(onHeap(), 1, 2L * RecordCache.BUCKET_BYTES),
            0,
            1,
            false,
            RecordCache.COUNT_BITS);

    final long home = cache.home(KEY);

    /** A value that is written to the leaf by a cleaner. */
    long leaf = 1;

    /** Returns a fabric that has memory on the heap, and nothing else. */
    private static Fabric onHeap() {
      return (Fabric)
          Proxy.newProxyInstance(
              Fabric.class.getClassLoader(),
              new Class<?>[] {Fabric.class},
              (_, _, arguments) -> new OnHeap((Long) arguments[0]));
    }

    private record OnHeap(MemorySegment segment) implements RegisteredMemory {
      OnHeap(long bytes) {
        this(MemorySegment.ofArray(new long[(int) (bytes / Long.BYTES)]));
      }

      @Override
      public void close() {}
    }

    /** Has a key be in a way. */
    final void put(int way, long key, long value, int kind) {
      cache.lock(home, BACKOFF);
      cache.setKey(home, way, key);
      cache.setValue(home, way, value);
      cache.setState(home, way, kind, 0);
      cache.unlock(home);
    }

    /** Returns what a get sees: 10 times the value and the kind; -1 if the key is not cached. */
    final int get() {
      Probe probe = new Probe(BACKOFF);
      return cache.find(KEY, probe) ? (int) (10 * probe.value) + probe.kind : -1;
    }

    /** Updates the key if it is cached, as a session does; returns whether it is. */
    final boolean update(long value) {
      cache.lock(home, BACKOFF);
      int way = cache.find(home, KEY);
      if (way != RecordCache.NONE) {
        cache.setValue(home, way, value);
        if (cache.kind(home, way) == RecordCache.CLEAN) {
          cache.setState(home, way, RecordCache.DIRTY, 0);
        }
      }
      cache.unlock(home);
      return way != RecordCache.NONE;
    }

    /** Claims a way for a key unless it is cached; returns whether it did. */
    final boolean claim(long key) {
      cache.lock(home, BACKOFF);
      int way = cache.find(home, key) == RecordCache.NONE ? cache.victim(home) : RecordCache.NONE;
      if (way != RecordCache.NONE) {
        cache.setKey(home, way, key);
        cache.setState(home, way, RecordCache.BUSY, 0);
      }
      cache.unlock(home);
      return way != RecordCache.NONE;
    }

    /** Gives a claimed key a value. */
    final void install(long key, long value) {
      cache.lock(home, BACKOFF);
      int way = cache.find(home, key);
      cache.setValue(home, way, value);
      cache.setState(home, way, RecordCache.CLEAN, 0);
      cache.unlock(home);
    }

    /** Writes the key's value to the leaf if it is newer, as a cleaner does. */
    final void clean() {
      cache.lock(home, BACKOFF);
      int way = cache.find(home, KEY);
      boolean due = cache.kind(home, way) == RecordCache.DIRTY;
      long written = cache.value(home, way);
      if (due) {
        cache.setState(home, way, RecordCache.CLEANING, 0);
      }
      cache.unlock(home);
      if (due) {
        leaf = written;
        cache.lock(home, BACKOFF);
        boolean same = cache.value(home, way) == written;
        cache.setState(home, way, same ? RecordCache.CLEAN : RecordCache.DIRTY, 0);
        cache.unlock(home);
      }
    }

    /** Fills the other ways with records that stay. */
    final void fill() {
      for (int way = 1; way < RecordCache.WAYS; way++) {
        put(way, 100 + way, 0, RecordCache.DIRTY);
      }
    }
  }

  /** A get has value and kind of the same moment. */
  @JCStressTest
  @Outcome(id = "11", expect = Expect.ACCEPTABLE, desc = "Before the update.")
  @Outcome(id = "22", expect = Expect.ACCEPTABLE, desc = "After it.")
  @State
  public static class GetBesideUpdate extends Bucket {
    public GetBesideUpdate() {
      put(0, KEY, 1, RecordCache.CLEAN);
    }

    @Actor
    public void get(I_Result result) {
      result.r1 = get();
    }

    @Actor
    public void update() {
      update(2);
    }
  }

  /** A get finds no other key's value, and no value of a key that is only claimed. */
  @JCStressTest
  @Outcome(id = "11", expect = Expect.ACCEPTABLE, desc = "Before the eviction.")
  @Outcome(id = "-1", expect = Expect.ACCEPTABLE, desc = "After it.")
  @State
  public static class GetBesideEviction extends Bucket {
    public GetBesideEviction() {
      fill();
      put(0, KEY, 1, RecordCache.CLEAN);
    }

    @Actor
    public void get(I_Result result) {
      result.r1 = get();
    }

    @Actor
    public void evict() {
      if (claim(OTHER)) {
        install(OTHER, 7);
      }
    }
  }

  /** A get that finds the key has what was installed. */
  @JCStressTest
  @Outcome(id = "-1", expect = Expect.ACCEPTABLE, desc = "Not claimed.")
  @Outcome(id = "[0-9]*7", expect = Expect.ACCEPTABLE, desc = "Claimed: the value means nothing.")
  @Outcome(id = "31", expect = Expect.ACCEPTABLE, desc = "Installed.")
  @State
  public static class GetBesideClaim extends Bucket {
    @Actor
    public void get(I_Result result) {
      result.r1 = get();
    }

    @Actor
    public void claim() {
      if (claim(KEY)) {
        install(KEY, 3);
      }
    }
  }

  /** One of two claims a key. */
  @JCStressTest
  @Outcome(
      id = {"0, 1", "1, 0"},
      expect = Expect.ACCEPTABLE,
      desc = "One has it.")
  @State
  public static class ClaimBesideClaim extends Bucket {
    @Actor
    public void first(II_Result result) {
      result.r1 = claim(KEY) ? 1 : 0;
    }

    @Actor
    public void second(II_Result result) {
      result.r2 = claim(KEY) ? 1 : 0;
    }
  }

  /** What is CLEAN in the end is in the leaf. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "CLEAN, and the leaf has it.")
  @Outcome(id = "2, 0", expect = Expect.ACCEPTABLE, desc = "DIRTY.")
  @State
  public static class CleanBesideUpdate extends Bucket {
    public CleanBesideUpdate() {
      put(0, KEY, 2, RecordCache.DIRTY);
    }

    @Actor
    public void clean(II_Result result) {
      clean();
    }

    @Actor
    public void update() {
      update(3);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r1 = get() % 10;
      result.r2 = leaf == 3 ? 1 : 0;
    }
  }

  /** An update of a cached record keeps it from being evicted. */
  @JCStressTest
  @Outcome(id = "1, 32", expect = Expect.ACCEPTABLE, desc = "Updated, and DIRTY.")
  @Outcome(id = "0, -1", expect = Expect.ACCEPTABLE, desc = "Evicted before.")
  @State
  public static class EvictionBesideUpdate extends Bucket {
    public EvictionBesideUpdate() {
      fill();
      put(0, KEY, 1, RecordCache.CLEAN);
    }

    @Actor
    public void update(II_Result result) {
      result.r1 = update(3) ? 1 : 0;
    }

    @Actor
    public void evict() {
      claim(OTHER);
    }

    @Arbiter
    public void look(II_Result result) {
      result.r2 = get();
    }
  }
}
