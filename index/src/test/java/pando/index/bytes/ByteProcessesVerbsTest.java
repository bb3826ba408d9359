package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.VerbCounters;
import pando.index.Partitioning;
import pando.index.Seeds;

/**
 * What operations on byte strings of two processes cost, beside what they cost when byte strings
 * were keys of 1,022 bytes over DEX: 20,000 entries with values of 32 bytes, and 1 MiB of cache in
 * each process.
 */
class ByteProcessesVerbsTest {
  private static final int ENTRIES = 20_000;
  private static final int VALUE_BYTES = 32;
  private static final int SCANNED = 100;

  private enum Kind {
    GET,
    PUT,
    SCAN
  }

  private record Cost(double verbs, double bytes) {
    /** Returns what an operation cost over DEX. */
    static Cost before(Kind kind) {
      return switch (kind) {
        case GET -> new Cost(2.66, 27_228);
        case PUT -> new Cost(5.65, 43_417);
        case SCAN -> new Cost(114, 240_690);
      };
    }
  }

  @ParameterizedTest
  @CsvSource({"16", "40", "200"})
  void shouldCostLessThanKeysOfOneLength(int keyBytes) {
    Random random = new Random(Seeds.of(3310));
    try (ByteProcesses both = new ByteProcesses(ByteOptions.defaults().withCacheBytes(1 << 20))) {
      both.divide(new byte[] {-128});
      ByteSession[] sessions = both.sessions();
      List<Integer> numbers = new ArrayList<>();
      for (int i = 0; i < ENTRIES; i++) {
        numbers.add(i);
      }
      Collections.shuffle(numbers, random);
      numbers.forEach(number -> operate(Kind.PUT, both, sessions, keyBytes, number, random));
      for (Kind kind : Kind.values()) {
        run(kind, both, sessions, keyBytes, random);
        Cost cost = run(kind, both, sessions, keyBytes, random);
        System.out.printf("%s of %d bytes: %s%n", kind, keyBytes, cost);
        Cost before = Cost.before(kind);
        assertThat(cost.verbs).isLessThan(before.verbs);
        assertThat(cost.bytes).isLessThan(before.bytes);
      }
    }
  }

  private static Cost run(
      Kind kind, ByteProcesses both, ByteSession[] sessions, int keyBytes, Random random) {
    int count = kind == Kind.SCAN ? ENTRIES / 10 : ENTRIES;
    VerbCounters before = verbs(both);
    for (int i = 0; i < count; i++) {
      operate(kind, both, sessions, keyBytes, random.nextInt(ENTRIES), random);
    }
    both.indexes[0].flush();
    both.indexes[1].flush();
    VerbCounters cost = verbs(both);
    cost.subtract(before);
    long all = cost.reads + cost.writes + cost.atomics + cost.calls;
    return new Cost((double) all / count, (double) cost.bytes() / count);
  }

  private static VerbCounters verbs(ByteProcesses both) {
    VerbCounters all = both.indexes[0].verbs();
    all.add(both.indexes[1].verbs());
    return all;
  }

  private static void operate(
      Kind kind,
      ByteProcesses both,
      ByteSession[] sessions,
      int keyBytes,
      int number,
      Random random) {
    MemorySegment key = MemorySegment.ofArray(new byte[keyBytes]);
    key.set(ByteStrings.WORD, 0, number * 0x9E3779B97F4A7C15L);
    key.set(ByteStrings.WORD, Long.BYTES, number);
    Partitioning table = both.indexes[0].partitioning();
    int range = KeyBounds.rangeOfKey(table, key);
    ByteSession session = sessions[table.ownerOfRange(range) == ByteProcesses.FIRST ? 0 : 1];
    switch (kind) {
      case GET -> assertThat(session.get(key)).isTrue();
      case PUT -> {
        byte[] value = new byte[VALUE_BYTES];
        random.nextBytes(value);
        session.put(key, MemorySegment.ofArray(value));
      }
      case SCAN -> session.scan(key, KeyBounds.fenceBehind(table, range), SCANNED, (_, _) -> true);
    }
  }
}
