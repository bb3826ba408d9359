package pando.index.bytes;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
      } catch (ArithmeticException e) {
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
                  } catch (IllegalArgumentException e) {
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
}
