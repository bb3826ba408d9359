package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.NavigableMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Ends;
import pando.index.Entries;
import pando.index.MovablePartitions;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Keys, bounds and boundaries at both ends of the keys' type. */
@Timeout(120)
class EndsTest {
  private static final int SERVERS = 3;

  /** So many entries are in several leaves. */
  private static final int ENTRIES = 60;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldFindTheSameAsATreeMap(SystemUnderTest system) {
    Configuration configuration = system.tiny(SERVERS);
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      Ends.checkEachSet(session);
      NavigableMap<Long, Long> entries = Ends.entries(ENTRIES);
      entries.forEach(session::put);
      Ends.check(session, entries);
      entries.keySet().forEach(session::discard);
      Ends.checkEachSet(session);
      index.bulkLoad(Entries.of(entries), 0.7);
      Ends.check(session, entries);
    }
  }

  @ParameterizedTest
  @CsvSource({"DEX", "P_SHERMAN", "ORCA", "P_SMART"})
  void shouldMoveBoundariesToTheEnds(SystemUnderTest system) {
    NavigableMap<Long, Long> entries = Ends.entries(ENTRIES);
    try (Fabric fabric = Pools.open(2, 16 << 20, 1);
        RangeIndex index = system.tiny(SERVERS).create(fabric);
        Session session = index.session()) {
      MovablePartitions partitions = index.partitions().orElseThrow();
      entries.forEach(session::put);
      for (int server = 0; server < SERVERS; server++) {
        int each = server;
        assertThatIllegalArgumentException()
            .isThrownBy(() -> partitions.moveBoundary(each, Long.MIN_VALUE));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> partitions.moveBoundary(1, Long.MAX_VALUE));
      partitions.moveBoundary(1, Long.MIN_VALUE + 1);
      Ends.check(session, entries);
      partitions.moveBoundary(2, Long.MAX_VALUE);
      Ends.check(session, entries);
      entries.keySet().forEach(session::discard);
      Ends.checkEachSet(session);
      entries.forEach(session::put);
      split(index, Long.MIN_VALUE + 1);
      split(index, Long.MAX_VALUE);
      Ends.check(session, entries);
      while (index.partitioning().servers() > 1) {
        partitions.removeComputeServer(index.partitioning().ownerOfKey(Long.MIN_VALUE));
        Ends.check(session, entries);
      }
    }
  }

  /** Splits a range at a key, unless the key is its bound already, as where any key can be one. */
  private static void split(RangeIndex index, long key) {
    int server = index.partitioning().ownerOfKey(key);
    if (index.partitioning().lowOfServer(server) < key) {
      index.partitions().orElseThrow().split(server, key);
    }
  }
}
