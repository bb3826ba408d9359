package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.CacheCounters;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;

/** What the cache's counters say of one session's operations. */
@Timeout(300)
class DexCountersTest {
  private static final int ENTRIES = 1_000;

  private final NavigableMap<Long, Long> model =
      Entries.random(new SplittableRandom(Seeds.of(601)), ENTRIES);

  @Test
  void shouldCountHitsWhereLeavesAreCached() {
    DexOptions options =
        Tiny.options(2)
            .with("cache-bytes", "1MiB")
            .with("admission", "1")
            .with("offloading", "off")
            .with("merge-share", "0");
    try (Fabric fabric = Pools.open(2, 8 << 20, 601);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      CacheCounters before = index.cache();
      assertThat(scanAll(session)).isEqualTo(ENTRIES);
      long leaves = index.cache().since(before).leafMisses();
      assertThat(leaves).isGreaterThan(ENTRIES / 8);
      assertThat(index.cache().since(before).leafHits()).isZero();
      before = index.cache();
      assertThat(scanAll(session)).isEqualTo(ENTRIES);
      assertThat(index.cache().since(before).leafHits()).isEqualTo(leaves);
      before = index.cache();
      for (long key : model.keySet()) {
        session.get(key);
        session.floor(key);
        session.ceiling(key);
        session.update(key, key);
        session.remove(key);
        session.put(key, key);
      }
      assertThat(index.cache().since(before).leafHits()).isEqualTo(6 * ENTRIES);
      assertThat(index.cache().since(before).leafMisses()).isZero();
      assertThat(index.cache().since(before).restarts()).isZero();
    }
  }

  @Test
  void shouldCountMissesWhereLeavesAreNot() {
    DexOptions options = Tiny.options(2).with("caching", "off").with("offloading", "off");
    try (Fabric fabric = Pools.open(2, 8 << 20, 602);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.7);
      CacheCounters before = index.cache();
      for (long key : model.keySet()) {
        session.get(key);
        session.floor(key);
        session.update(key, key);
      }
      assertThat(index.cache().since(before).leafMisses()).isEqualTo(3 * ENTRIES);
      assertThat(index.cache().since(before).leafHits()).isZero();
    }
  }

  @Test
  void shouldLookBesideAnEmptyLeafWithoutWaiting() {
    DexOptions options = Tiny.options(4).with("caching", "off").with("offloading", "off");
    try (Fabric fabric = Pools.open(1, 8 << 20, 603);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session()) {
      assertThat(session.floor(Long.MAX_VALUE)).isFalse();
      assertThat(session.ceiling(Long.MIN_VALUE)).isFalse();
      session.put(Long.MIN_VALUE, 7);
      assertThat(session.floor(Long.MAX_VALUE)).isTrue();
      assertThat(session.value()).isEqualTo(7);
      assertThat(index.cache().restarts()).isZero();
    }
  }

  private static long scanAll(Session session) {
    return session.scan(Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, (key, value) -> true);
  }
}
