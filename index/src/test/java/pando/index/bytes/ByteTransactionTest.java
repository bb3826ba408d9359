package pando.index.bytes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Threads;

/** Changes of several keys that count together. */
@Timeout(300)
class ByteTransactionTest {
  private static final int ROUNDS = Seeds.count(300, 3_000, 30_000);

  private final Fabric fabric = Pools.open(2, 64 << 20, 86);
  private final ByteIndex index =
      ByteIndex.create(fabric, ByteOptions.defaults().withBlockBytes(256, 16));
  private final ByteSession session = index.session();

  @AfterEach
  void close() {
    session.close();
    index.close();
    fabric.close();
  }

  private static MemorySegment segment(String text) {
    return MemorySegment.ofArray(text.getBytes(ISO_8859_1));
  }

  private String get(String key) {
    return session.get(segment(key)) ? text(session.value()) : "";
  }

  private static String text(MemorySegment bytes) {
    return new String(bytes.toArray(ValueLayout.JAVA_BYTE), ISO_8859_1);
  }

  /** Whatever an action does, and wherever it ends. */
  @Test
  void shouldDoAllOrNothing() {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    SplittableRandom random = new SplittableRandom(Seeds.of(86));
    for (int round = 0; round < ROUNDS; round++) {
      NavigableMap<byte[], byte[]> after = new TreeMap<>(model);
      int changes = random.nextInt(12);
      boolean fails = random.nextBoolean();
      try {
        session.atomically(
            null,
            its -> {
              for (int i = 0; i < changes; i++) {
                byte[] key = ByteKeys.draw(random, 6);
                ByteModelRun.operate(its, after, random, false, key, ByteKeys.value(random, 100));
              }
              if (fails) {
                throw new ArithmeticException();
              }
            });
        assertThat(fails).isFalse();
        model = after;
      } catch (ArithmeticException _) {
        assertThat(fails).isTrue();
      }
      ByteModelRun.checkAll(session, model);
    }
  }

  @Test
  void shouldShowAllOrNothingToOthers() throws Exception {
    List<MemorySegment> keys = List.of(segment("a"), segment("b"), segment("c"));
    AtomicInteger writers = new AtomicInteger(2);
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      String name = "writer " + i + " round ";
      tasks.add(() -> {
        try (ByteSession own = index.session()) {
          for (int n = 0; n < ROUNDS; n++) {
            MemorySegment value = segment(name + n);
            own.atomically(keys, its -> keys.forEach(key -> its.put(key, value)));
          }
          return null;
        } finally {
          writers.decrementAndGet();
        }
      });
    }
    tasks.add(() -> {
      try (ByteSession own = index.session()) {
        while (writers.get() > 0) {
          List<String> seen = new ArrayList<>();
          own.atomically(
              keys, its -> keys.forEach(key -> seen.add(its.get(key) ? text(its.value()) : "")));
          assertThat(seen).containsOnly(seen.getFirst());
        }
        return null;
      }
    });
    Threads.run(tasks);
    assertThat(get("a")).isEqualTo(get("b")).endsWith("round " + (ROUNDS - 1));
  }

  @Test
  void shouldUndoWhatCannotEnd() {
    session.put(segment("there"), segment("before"));
    MemorySegment tooLong = MemorySegment.ofArray(new byte[index.valueBytesMax() + 1]);
    assertThatThrownBy(() ->
            session.atomically(
                null,
                its -> {
                  its.put(segment("there"), segment("after"));
                  its.store(segment("new"), segment("value"));
                  // An action cannot hide that a change of it has failed.
                  try {
                    its.put(segment("long"), tooLong);
                  } catch (IllegalArgumentException _) {
                    its.remove(segment("there"));
                  }
                }))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("too long");
    assertThat(get("there")).isEqualTo("before");
    assertThat(get("new")).isEmpty();
  }

  @Test
  void shouldTakeWhatTheSessionReturned() {
    session.put(segment("a"), segment("value of a"));
    session.atomically(
        null,
        its -> {
          its.get(segment("a"));
          its.put(segment("b"), its.value());
          its.get(segment("b"));
          its.replace(segment("b"), its.value(), segment("other"));
          its.get(segment("a"));
          its.put(its.value(), its.value());
        });
    assertThat(get("b")).isEqualTo("other");
    assertThat(get("value of a")).isEqualTo("value of a");
  }

  @Test
  void shouldRefuseAnotherActionInside() {
    List<ByteSession> kept = new ArrayList<>();
    session.atomically(
        null,
        its -> {
          kept.add(its);
          assertThatThrownBy(() -> its.atomically(null, _ -> {}))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> its.alone(() -> {})).isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(its::close).isInstanceOf(IllegalStateException.class);
        });
    assertThatThrownBy(() -> kept.getFirst().get(segment("a")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has ended");
    assertThat(session.get(segment("a"))).isFalse();
  }

  /** What is remembered to be undone has a limit, and each key is remembered once. */
  @Test
  void shouldRememberSoMuchAtTheMost() {
    MemorySegment large = MemorySegment.ofArray(new byte[1 << 20]);
    try (Fabric ample = Pools.open(2, 256 << 20, 91);
        ByteIndex all = ByteIndex.create(ample, ByteOptions.defaults());
        ByteSession its = all.session()) {
      its.put(segment("large"), large);
      its.atomically(
          null,
          inside -> {
            for (int i = 0; i < 200; i++) {
              inside.put(segment("large"), large);
            }
          });
      assertThatThrownBy(() ->
              its.atomically(
                  null,
                  inside -> {
                    for (int i = 0; i < 200; i++) {
                      inside.store(segment("key " + i), large);
                    }
                  }))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("changes of several keys take too much memory")
          .hasMessageContaining("keys=128, ");
      assertThat(its.ceiling(segment(""))).isTrue();
      assertThat(text(its.key())).isEqualTo("large");
      assertThat(its.higher(segment("large"))).isFalse();
    }
  }

  /** A value that was replaced finds room again, although the pool has become full. */
  @Test
  void shouldUndoInAFullPool() {
    SplittableRandom random = new SplittableRandom(Seeds.of(90));
    try (Fabric small = Pools.open(1, 16 << 20, 90);
        ByteIndex full = ByteIndex.create(small, ByteOptions.defaults().withBlockBytes(4096, 512));
        ByteSession its = full.session()) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      int undone = 0;
      for (int round = 0; round < ROUNDS / 10; round++) {
        NavigableMap<byte[], byte[]> after = new TreeMap<>(model);
        try {
          its.atomically(
              null,
              inside -> {
                for (int i = 0; i < 20; i++) {
                  byte[] key = {(byte) random.nextInt(256)};
                  byte[] value = new byte[random.nextInt(1 << (4 + random.nextInt(17)))];
                  random.nextBytes(value);
                  if (random.nextInt(4) == 0) {
                    inside.discard(MemorySegment.ofArray(key));
                    after.remove(key);
                  } else {
                    inside.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
                    after.put(key, value);
                  }
                }
              });
          model = after;
        } catch (PoolFullException _) {
          undone++;
        }
        ByteModelRun.checkAll(its, model);
      }
      assertThat(undone).isPositive();
    }
  }

  /** An action that goes on behind two failures, of which the first may have had an effect. */
  @Test
  void shouldKeepThatAnOutcomeIsUnknown() {
    List<RuntimeException> failures =
        new ArrayList<>(
            List.of(new UnknownOutcomeException("by a test"), new StalledException("by a test")));
    ByteSession failing =
        (ByteSession)
            Proxy.newProxyInstance(
                ByteSession.class.getClassLoader(),
                new Class<?>[] {ByteSession.class},
                (_, _, _) -> {
                  throw failures.removeFirst();
                });
    ByteTransaction transaction = new ByteTransaction(failing, _ -> true);
    assertThatThrownBy(() ->
            transaction.run(its -> {
              for (int i = 0; i < 2; i++) {
                try {
                  its.put(segment("key"), segment("value"));
                } catch (PandoException _) {
                  assertThat(transaction.isUndone()).isFalse();
                }
              }
            }))
        .isInstanceOf(UnknownOutcomeException.class);
    assertThat(transaction.isUndone()).isFalse();
  }
}
