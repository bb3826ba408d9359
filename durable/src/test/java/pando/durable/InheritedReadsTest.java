package pando.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;

/** Scans under which a range is inherited: entries that they have not visited yet may change. */
@Timeout(60)
class InheritedReadsTest {
  private final MemoryLog log = new MemoryLog(true);
  private final Fabric fabric = Pools.open(1, 64 << 20, 92);
  private final Stripes stripes = new Stripes();

  @AfterEach
  void close() {
    fabric.close();
  }

  /** Changes an index by another thread, as the heir's thread replays a log. */
  private void inherit(Runnable changes) {
    Callable<Void> heir =
        () -> {
          stripes.beginInheritance();
          changes.run();
          stripes.endInheritance();
          return null;
        };
    try {
      Threads.run(List.of(heir));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadWordsAgainBehindTheLastOne(boolean down) {
    log.hold();
    try (RangeIndex index = SystemUnderTest.ORCA.tiny(1).create(fabric)) {
      Session session = new DurableSession(index.session(), stripes, log.session(), null);
      for (long key : new long[] {Long.MIN_VALUE, 10, 20, 30, Long.MAX_VALUE}) {
        session.put(key, 1);
      }
      Runnable changes =
          () -> {
            try (Session heir = index.session()) {
              heir.put(15, 2);
              heir.put(25, 2);
              heir.put(10, 2);
              heir.put(30, 2);
            }
          };
      List<String> seen = new ArrayList<>();
      Entries visitor = new Entries(seen, 20, changes);
      long visited =
          down
              ? session.scanDown(Long.MAX_VALUE, Long.MIN_VALUE, 100, visitor::visit)
              : session.scan(Long.MIN_VALUE, Long.MAX_VALUE, 100, visitor::visit);
      String least = Long.MIN_VALUE + "=1";
      String greatest = Long.MAX_VALUE + "=1";
      List<String> expected =
          down
              ? List.of(greatest, "30=1", "20=1", "15=2", "10=2", least)
              : List.of(least, "10=1", "20=1", "25=2", "30=2", greatest);
      assertThat(seen).isEqualTo(expected);
      assertThat(visited).isEqualTo(6);
      session.close();
    }
  }

  /** Notes entries; the range is inherited in the middle of one. */
  private final class Entries {
    private final List<String> seen;
    private final long middle;
    private final Runnable changes;

    Entries(List<String> seen, long middle, Runnable changes) {
      this.seen = seen;
      this.middle = middle;
      this.changes = changes;
    }

    boolean visit(long key, long value) {
      seen.add(key + "=" + value);
      if (key == middle) {
        inherit(changes);
      }
      return true;
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldReadStringsAgainBehindTheLastOne(boolean down) {
    log.hold();
    try (ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      MemorySegment longest = bytes(index.keyBytesMax(), 'm');
      try (ByteSession session = new DurableByteSession(index, stripes, log.session(), null)) {
        for (MemorySegment key : List.of(text("a"), longest, text("z"))) {
          session.put(key, text("1"));
        }
        List<String> seen = new ArrayList<>();
        Runnable changes =
            () -> {
              try (ByteSession heir = index.session()) {
                heir.put(text("b"), text("2"));
                heir.put(text("n"), text("2"));
              }
            };
        long visited =
            scan(
                session,
                down,
                key -> {
                  seen.add(key.byteSize() > 1 ? "m" : MemoryLog.text(key));
                  if (key.byteSize() > 1) {
                    inherit(changes);
                  }
                });
        assertThat(seen)
            .isEqualTo(down ? List.of("z", "m", "b", "a") : List.of("a", "m", "n", "z"));
        assertThat(visited).isEqualTo(4);
      }
    }
  }

  /** What a visitor does with a key. */
  @FunctionalInterface
  private interface KeyVisitor {
    void visit(MemorySegment key);
  }

  private static long scan(ByteSession session, boolean down, KeyVisitor visitor) {
    MemorySegment first = text("");
    return down
        ? session.scanDown(
            null,
            first,
            100,
            (key, _) -> {
              visitor.visit(key);
              return true;
            })
        : session.scan(
            first,
            null,
            100,
            (key, _) -> {
              visitor.visit(key);
              return true;
            });
  }

  private static MemorySegment text(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  private static MemorySegment bytes(int count, char each) {
    byte[] all = new byte[count];
    Arrays.fill(all, (byte) each);
    return MemorySegment.ofArray(all);
  }

  private static @Nullable String above(String key, int bytesMax) {
    MemorySegment next = DurableByteSession.above(text(key), bytesMax);
    return next == null ? null : MemoryLog.text(next);
  }

  @Test
  void shouldFindTheNextKey() {
    assertThat(above("", 3)).isEqualTo("\0");
    assertThat(above("ab", 3)).isEqualTo("ab\0");
    assertThat(above("abc", 3)).isEqualTo("abd");
    assertThat(above("a\u00FF\u00FF", 3)).isEqualTo("b");
    assertThat(above("\u007F\u00FF", 2)).isEqualTo("\u0080");
    assertThat(above("\u00FF\u00FF", 2)).isNull();
  }
}
