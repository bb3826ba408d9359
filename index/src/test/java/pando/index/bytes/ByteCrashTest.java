package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/**
 * Processes that die at any verb: alone, or while rounds find blocks latched, verbs have failed
 * before, the pool is full, values have parts, or several sessions work. An index that is opened
 * then has what was flushed, or a later change of it.
 */
@Timeout(600)
class ByteCrashTest {
  private static final int THREADS = 4;
  private static final int VERBS = 1_500;

  /** What goes on before the crash. */
  enum Kind {
    /** One session works; labels are not flushed apart. */
    ALONE,
    /** Rounds find blocks latched. */
    LATCHED,
    /** Values have parts. */
    PARTS,
    /** The pool has no room. */
    FULL,
    /** Verbs fail, in all ways. */
    FAULTS,
    /** Several sessions work. */
    THREADS,
    /** Several sessions work in a pool without room. */
    THREADS_FULL,
    /** The index is loaded, and closed at the end. */
    LOADED;

    boolean isFull() {
      return this == FULL || this == THREADS_FULL;
    }

    boolean closes() {
      return this != ALONE && this != FAULTS;
    }

    int changes() {
      return this == ALONE ? 1_500 : 1_000;
    }

    int runs() {
      return this == ALONE ? Seeds.count(60, 600, 20_000) : Seeds.count(10, 100, 5_000);
    }

    boolean hasThreads() {
      return this == THREADS || this == THREADS_FULL;
    }
  }

  /** Whether verbs may fail now. */
  private boolean fails;

  /** What a thread has stored, in keys of its own. */
  private static final class Model {
    /** Values that a key may have after a crash, {@code null} for none. */
    private final NavigableMap<byte[], List<byte @Nullable []>> possible =
        new TreeMap<>(Arrays::compareUnsigned);

    void note(byte[] key, byte @Nullable [] value) {
      possible
          .computeIfAbsent(
              key,
              _ -> {
                List<byte @Nullable []> values = new ArrayList<>();
                values.add(null);
                return values;
              })
          .add(value);
    }

    void noteFlush() {
      for (List<byte @Nullable []> values : possible.values()) {
        values.subList(0, values.size() - 1).clear();
      }
    }
  }

  private static ByteOptions options() {
    return ByteOptions.defaults()
        .withBlockBytes(256, 16)
        .withCacheBytes(10_000)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(128 << 10));
  }

  private static byte[] key(SplittableRandom random, int thread) {
    byte[] drawn = ByteKeys.draw(random, 3);
    byte[] key = Arrays.copyOf(drawn, drawn.length + 1);
    key[drawn.length] = (byte) ('A' + thread);
    return key;
  }

  private static byte[] value(Kind kind, SplittableRandom random) {
    if (kind == Kind.PARTS && random.nextInt(40) == 0) {
      byte[] value = new byte[60_000 + random.nextInt(90_000)];
      random.nextBytes(value);
      return value;
    }
    return ByteKeys.value(random, kind.isFull() ? 600 : 60);
  }

  private void change(
      Kind kind, ByteSession session, SplittableRandom random, Model model, int thread, int i) {
    byte[] key = key(random, thread);
    boolean shrinks = i / 300 % 2 == 1;
    boolean stores = random.nextInt(4) == 0 == shrinks;
    byte[] value = stores ? value(kind, random) : null;
    MemorySegment its = MemorySegment.ofArray(key);
    model.note(key, value);
    try {
      fails = kind == Kind.FAULTS;
      if (value == null) {
        session.discard(its);
      } else {
        session.store(its, MemorySegment.ofArray(value));
      }
    } catch (PandoException | OutOfMemoryError e) {
      if (kind != Kind.FAULTS && !(e instanceof PoolFullException)) {
        throw e;
      }
      fails = false;
      boolean found = session.get(its);
      model.note(key, found ? ByteKeys.bytes(session.value()) : null);
    } finally {
      fails = false;
    }
  }

  private static void settleBesideLatches(
      ByteIndex index, BlockSession session, SplittableRandom random) {
    List<BlockEntry> held = new ArrayList<>();
    for (BlockEntry entry : index.directory.all()) {
      if (random.nextInt(3) == 0 && entry.tryLatch()) {
        held.add(entry);
      }
    }
    try {
      session.changes.settleSuperseded();
    } finally {
      held.forEach(BlockEntry::unlatch);
    }
  }

  private void run(Kind kind, ByteIndex index, SplittableRandom random, Model model, int thread) {
    try (BlockSession session = (BlockSession) index.session()) {
      for (int i = 0; i < kind.changes(); i++) {
        change(kind, session, random, model, thread, i);
        if (kind == Kind.LATCHED && random.nextInt(5) == 0) {
          settleBesideLatches(index, session, random);
        }
        if (random.nextInt(100) == 0 && flushes(kind, index)) {
          model.noteFlush();
        }
        if (kind != Kind.ALONE && random.nextInt(50) == 0) {
          index.labels.flush();
        }
      }
    }
  }

  private boolean flushes(Kind kind, ByteIndex index) {
    try {
      index.flush();
      return true;
    } catch (PandoException | OutOfMemoryError e) {
      if (kind == Kind.FAULTS || e instanceof PoolFullException) {
        return false;
      }
      throw e;
    }
  }

  private static void load(ByteIndex index, SplittableRandom random, Model model) {
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    for (int i = 0; i < 200; i++) {
      all.put(key(random, 0), ByteKeys.value(random, 60));
    }
    all.forEach(model::note);
    index.load(ByteLoadTest.source(all), 1);
  }

  private void runAll(Kind kind, ByteIndex index, SplittableRandom random, Model[] models)
      throws Exception {
    if (kind == Kind.LOADED) {
      load(index, random, models[0]);
    }
    if (!kind.hasThreads()) {
      run(kind, index, random, models[0], 0);
    } else {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        SplittableRandom own = random.split();
        tasks.add(() -> {
          run(kind, index, own, models[thread], thread);
          return null;
        });
      }
      Threads.run(tasks);
    }
  }

  private static void check(ByteIndex index, Model[] models) {
    NavigableMap<byte[], byte[]> found = new TreeMap<>(Arrays::compareUnsigned);
    try (ByteSession session = index.session()) {
      session.scan(
          MemorySegment.ofArray(new byte[0]),
          null,
          Long.MAX_VALUE,
          (key, value) -> {
            assertThat(found.put(ByteKeys.bytes(key), ByteKeys.bytes(value))).isNull();
            return true;
          });
    }
    for (Model model : models) {
      model.possible.forEach((key, values) -> {
        byte[] value = found.remove(key);
        assertThat(values.stream().anyMatch(each -> Arrays.equals(each, value)))
            .as("key=%s, possible=%s, found=%s", Arrays.toString(key), values.size(), value == null)
            .isTrue();
        values.clear();
        values.add(value);
      });
    }
    assertThat(found).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindWhatWasFlushedAfterACrash(Kind kind) throws Exception {
    long seed = Seeds.of(2602);
    int crashes = 0;
    for (int run = 0; run < kind.runs(); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      Model[] models = new Model[kind.hasThreads() ? THREADS : 1];
      Arrays.setAll(models, _ -> new Model());
      long bytes = kind.isFull() ? 320 << 10 : kind == Kind.PARTS ? 6 << 20 : 4 << 20;
      try (Fabric pool = Pools.open(2, bytes, seed + run)) {
        HookedFabric hooked = new HookedFabric(pool);
        HookedFabric dying = kind.hasThreads() ? hooked.withThreads() : hooked.withTasksByHand();
        ByteIndex first = ByteIndex.create(dying, options());
        AtomicInteger left = new AtomicInteger(random.nextInt(VERBS * models.length));
        SplittableRandom faults = random.split();
        dying.hookEach(
            _ -> {
              if (left.getAndDecrement() <= 0) {
                throw Break.lost();
              }
              return fails && faults.nextInt(40) == 0;
            },
            posting -> {
              Break how = Break.any(faults);
              if (how == Break.AWAY) {
                posting.post();
              } else {
                how.happen(dying, posting, 0);
              }
            });
        Throwable failure =
            catchThrowable(() -> {
              runAll(kind, first, random, models);
              if (kind.closes()) {
                first.close();
                for (Model model : models) {
                  model.noteFlush();
                }
              }
            });
        if (failure != null) {
          if (left.get() > 0) {
            throw new AssertionError("no crash, run=" + run, failure);
          }
          if (!kind.hasThreads()) {
            assertThat(failure).as("run=%s", run).isInstanceOf(PandoException.class);
          }
          crashes++;
        }
        left.set(0);
        try (ByteIndex second = ByteIndex.open(pool, options())) {
          check(second, models);
          boolean isOnce = kind == Kind.LOADED || kind == Kind.FAULTS;
          runAll(isOnce ? Kind.PARTS : kind, second, random, models);
        } catch (Throwable e) {
          throw new AssertionError("run=" + run, e);
        }
        try (ByteIndex third = ByteIndex.open(pool, options())) {
          for (Model model : models) {
            model.noteFlush();
          }
          check(third, models);
        } catch (Throwable e) {
          throw new AssertionError("third, run=" + run, e);
        }
      }
    }
    System.out.println(kind + ": " + crashes + " crashes");
  }
}
