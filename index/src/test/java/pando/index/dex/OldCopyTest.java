package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.dex.cache.Frames;
import pando.index.dex.cache.NodeCache;
import pando.index.dex.node.NodeLayout;

/** A compute server has a copy of a freed node at whose address there is another node now. */
@Timeout(300)
class OldCopyTest {
  private static final int ENTRIES = 300;
  private static final int OWNER = 1;

  /** Another compute server splits a shared node, and the new half is private to this one. */
  @Test
  void shouldDropACopyWhereAPrivateNodeIsNow() {
    DexOptions options = Tiny.options(2).with("cache-bytes", "1MiB");
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(704)), ENTRIES);
    try (Fabric fabric = Pools.open(2, 8 << 20, 704);
        DexIndex index = DexIndex.create(fabric, options);
        Session session = index.session();
        DexPokes pokes = new DexPokes(fabric, options)) {
      index.bulkLoad(Entries.of(model), 0.7);
      long border = index.partitioning().lowOfServer(OWNER);
      long key = model.lastKey();
      long address = pokes.path(key)[1];
      assertThat(pokes.low(address)).as("the node is private").isGreaterThan(border);
      cacheOldCopy(index, address, border);
      assertThat(session.get(key)).isTrue();
      assertThat(session.remove(key)).isTrue();
      model.remove(key);
      Entries.check(session, model, "in the end");
    }
  }

  /** Caches a node of another level that another compute server had at the address, below none. */
  private static void cacheOldCopy(DexIndex index, long address, long border) {
    DexServer server = index.servers().get(OWNER);
    NodeCache cache = server.cache;
    long copy = cache.takeFrame(cache.house());
    NodeLayout layout = NodeLayout.of(server.options.nodeBytes(), Long.BYTES);
    layout.format(cache.memory(), copy, address, 2, Long.MIN_VALUE, border - 1);
    cache.adopt(cache.house(), Frames.NONE, copy);
    Frames.unlock(cache.memory(), copy);
  }
}
