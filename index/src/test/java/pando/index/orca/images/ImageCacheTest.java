package pando.index.orca.images;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.memory.Words;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.directory.Directory;
import pando.index.orca.directory.LeafEntries;
import pando.index.orca.directory.LeafView;
import pando.index.orca.leaf.LeafLayout;

/** What is in the cache of images, compared with what leaves have. */
@Timeout(300)
class ImageCacheTest {
  private static final Backoff BACKOFF = attempt -> Thread.onSpinWait();
  private static final int LEAVES = 12;
  private static final int SEGMENTS = 31;
  private static final int PAIRS = (SEGMENTS + 1) / 2;
  private static final int WORDS = LeafLayout.SEGMENT_BYTES / Long.BYTES;
  private static final int BOTH = 3;
  private static final int STEPS = Seeds.count(20_000, 100_000);
  private static final byte OF_OTHERS = 0x3f;

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Directory directory = new Directory(fabric);
  private final LeafEntries entries = directory.entries();
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment buffer = arena.allocate(2 * LeafLayout.SEGMENT_BYTES, 8);

  /** The words of each leaf's segments. */
  private final Map<Integer, long[]> leaves = new HashMap<>();

  @AfterEach
  void close() {
    arena.close();
    directory.close();
    fabric.close();
  }

  private int leaf(Random random) {
    int leaf = entries.take();
    leaves.put(leaf, random.longs((long) SEGMENTS * WORDS).toArray());
    return leaf;
  }

  private long[] words(int leaf) {
    return Objects.requireNonNull(leaves.get(leaf));
  }

  private LeafView view(int leaf) {
    LeafView view = new LeafView(directory, BACKOFF);
    view.entry = leaf;
    view.high = 1;
    view.copyHeld();
    return view;
  }

  /** Puts segments of a leaf into the buffer, as a READ does. */
  private void read(int leaf, int pair, int segments) {
    buffer.fill((byte) 0);
    for (int i = 0; i < 2 * WORDS; i++) {
      if (((segments >>> (i / WORDS)) & 1) != 0) {
        Words.set(buffer, (long) i * Long.BYTES, words(leaf)[pair * 2 * WORDS + i]);
      }
    }
  }

  private void admit(ImageCache cache, int leaf, int pair, int segments) {
    LeafView view = view(leaf);
    read(leaf, pair, segments);
    admit(cache, view, pair, segments, true);
  }

  private void admit(ImageCache cache, LeafView view) {
    read(view.entry, 0, BOTH);
    admit(cache, view, 0, BOTH, true);
  }

  /** Admits segments of one pair, which the buffer has. */
  private void admit(ImageCache cache, LeafView view, int pair, int segments, boolean evicts) {
    cache.admit(view, segments << (2 * pair), evicts, buffer, atLeaf(pair), BACKOFF);
  }

  /** Returns where a leaf would be of which the buffer has a pair. */
  private static long atLeaf(int pair) {
    return -2L * LeafLayout.SEGMENT_BYTES * pair;
  }

  /** Copies segments of a pair, and checks those that are cached; returns which are. */
  private int check(ImageCache cache, int leaf, int pair, int wanted) {
    buffer.fill((byte) 0);
    int found =
        cache.copy(leaf, wanted << (2 * pair), buffer, atLeaf(pair), BACKOFF) >>> (2 * pair);
    assertThat(found & ~wanted).isZero();
    for (int i = 0; i < 2 * WORDS; i++) {
      boolean has = ((found >>> (i / WORDS)) & 1) != 0;
      long expected = has ? words(leaf)[pair * 2 * WORDS + i] : 0;
      assertThat(Words.get(buffer, (long) i * Long.BYTES))
          .as("leaf=%d, pair=%d, word=%d", leaf, pair, i)
          .isEqualTo(expected);
    }
    return found;
  }

  /** Returns a cache of one slab. */
  private ImageCache cacheOf(long bytes) {
    ImageCache cache = new ImageCache(entries, fabric.register(bytes).segment(), bytes, true);
    cache.addSlab(0, BACKOFF);
    return cache;
  }

  @Test
  void shouldCacheNothingWithoutRoom() {
    int leaf = leaf(new Random(1));
    ImageCache cache = new ImageCache(entries, buffer, ImageCache.SET_BYTES, true);
    assertThat(cache.isOn()).isFalse();
    admit(cache, leaf, 0, BOTH);
    assertThat(check(cache, leaf, 0, BOTH)).isZero();
    long version = entries.version(leaf);
    cache.noteWritten(leaf, 3, 1, true, BACKOFF);
    assertThat(entries.version(leaf)).isNotEqualTo(version);
    cache.drop(leaf, SEGMENTS, BACKOFF);
    assertThat(cache.bytesUsed()).isZero();
  }

  private static LeafFilter filterOf(long first) {
    LeafFilter filter = new LeafFilter();
    for (int place = 0; place < LeafLayout.RECORDS_MAX; place++) {
      filter.add(first + place, place);
    }
    return filter;
  }

  private static void checkFilter(ImageCache cache, int leaf, LeafFilter expected) {
    for (int segment = 0; segment < SEGMENTS; segment++) {
      assertThat(cache.filter(leaf, segment)).isEqualTo(expected.word(segment));
    }
  }

  @Test
  void shouldKeepFiltersBesideImages() {
    int leaf = leaf(new Random(3));
    int other = leaf(new Random(4));
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    checkFilter(cache, leaf, new LeafFilter());
    for (int pair = 0; pair < 6; pair++) {
      admit(cache, leaf, pair, BOTH);
    }
    cache.putFilter(leaf, filterOf(7));
    cache.putFilter(other, filterOf(1_000));
    assertThat(cache.images()).isEqualTo(8);
    checkFilter(cache, leaf, filterOf(7));
    checkFilter(cache, other, filterOf(1_000));
    cache.putFilter(leaf, filterOf(-7));
    checkFilter(cache, leaf, filterOf(-7));
    for (int pair = 0; pair < 6; pair++) {
      assertThat(check(cache, leaf, pair, BOTH)).isEqualTo(BOTH);
    }
    cache.drop(leaf, SEGMENTS, BACKOFF);
    checkFilter(cache, leaf, new LeafFilter());
    checkFilter(cache, other, filterOf(1_000));
    assertThat(cache.images()).isOne();
    cache.removeSlab(0, BACKOFF);
    checkFilter(cache, other, new LeafFilter());
    cache.putFilter(leaf, filterOf(7));
    assertThat(cache.images()).isZero();
  }

  @Test
  void shouldEvictFiltersForOthers() {
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    int[] leaves = new Random(5).ints(9, 0, 1_000).toArray();
    for (int leaf : leaves) {
      cache.putFilter(leaf, filterOf(leaf));
    }
    assertThat(cache.images()).isEqualTo(8);
    checkFilter(cache, leaves[0], new LeafFilter());
    checkFilter(cache, leaves[8], filterOf(leaves[8]));
  }

  @Test
  void shouldCopyWhatIsCachedOfAPair() {
    int leaf = leaf(new Random(2));
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    admit(cache, leaf, 14, 2);
    assertThat(check(cache, leaf, 14, 1)).isZero();
    assertThat(check(cache, leaf, 14, BOTH)).isEqualTo(2);
    assertThat(check(cache, leaf, 13, BOTH)).isZero();
    admit(cache, leaf, 14, 1);
    assertThat(check(cache, leaf, 14, BOTH)).isEqualTo(BOTH);
    assertThat(cache.images()).isOne();
    cache.clear();
    assertThat(check(cache, leaf, 14, BOTH)).isZero();
  }

  @Test
  void shouldNotAdmitWhatMayBeOld() {
    int leaf = leaf(new Random(3));
    ImageCache cache = cacheOf(5 * ImageCache.SET_BYTES);
    LeafView view = view(leaf);
    cache.noteWritten(leaf, 0, 1, true, BACKOFF);
    admit(cache, view);
    assertThat(check(cache, leaf, 0, BOTH)).as("a value was written").isZero();

    view.copyHeld();
    assertThat(entries.tryLatch(leaf)).isTrue();
    entries.startMerge(leaf, true);
    admit(cache, view);
    assertThat(check(cache, leaf, 0, BOTH)).as("a merge has begun").isZero();

    view.copyHeld();
    admit(cache, view);
    assertThat(check(cache, leaf, 0, BOTH)).as("a merge is under way").isZero();

    entries.cancelMerge(leaf);
    entries.unlatch(leaf, 0);
    view.copyHeld();
    admit(cache, view);
    assertThat(check(cache, leaf, 0, BOTH)).isEqualTo(BOTH);
  }

  @Test
  void shouldDropASegmentThatMayHaveBeenWritten() {
    int leaf = leaf(new Random(4));
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    admit(cache, leaf, 1, BOTH);
    cache.noteWritten(leaf, 3 * LeafLayout.SLOTS + 7, 1, false, BACKOFF);
    assertThat(check(cache, leaf, 1, BOTH)).isOne();
  }

  @Test
  void shouldKeepWhatIsAskedForMost() {
    Random random = new Random(Seeds.of(5));
    int leaf = leaf(random);
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    for (int pair = 0; pair < 8; pair++) {
      admit(cache, leaf, pair, 1);
    }
    for (int i = 0; i < 100; i++) {
      check(cache, leaf, 2, BOTH);
      check(cache, leaf, 5, BOTH);
      admit(cache, leaf, 8 + i % 8, 1);
    }
    assertThat(cache.images()).isEqualTo(8);
    assertThat(check(cache, leaf, 2, 1)).isOne();
    assertThat(check(cache, leaf, 5, 1)).isOne();

    LeafView view = view(leaf);
    int cached = pairs(cache, leaf);
    for (int pair = 0; pair < 8; pair++) {
      read(leaf, pair, 1);
      admit(cache, view, pair, 1, false);
    }
    assertThat(pairs(cache, leaf)).as("nothing may be evicted").isEqualTo(cached);
  }

  private int pairs(ImageCache cache, int leaf) {
    int pairs = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
      pairs |= (check(cache, leaf, pair, 1) == 0 ? 0 : 1) << pair;
    }
    return pairs;
  }

  @ParameterizedTest
  @CsvSource({"1, 2112", "1, 4000", "1, 100000", "2, 2112", "3, 6400", "5, 21120", "11, 2200"})
  void shouldNeverBeOld(int slabs, int slabBytes) {
    Random random = new Random(Seeds.of(6));
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < LEAVES; i++) {
      numbers.add(leaf(random));
    }
    long at = (slabBytes + 7L) & -Long.BYTES;
    int hits = 0;
    RegisteredMemory registered = fabric.register(slabs * at);
    ImageCache cache = new ImageCache(entries, registered.segment(), slabBytes, true);
    boolean[] added = new boolean[slabs];
    for (int step = 0; step < STEPS; step++) {
      int leaf = numbers.get(random.nextInt(LEAVES));
      int pair = random.nextInt(PAIRS);
      int segments = pair == PAIRS - 1 ? 1 : random.nextInt(1, 4);
      switch (random.nextInt(step % 2_000 < 40 ? 20 : 16)) {
        case 0, 1, 2, 3, 4, 5 -> admit(cache, leaf, pair, segments);
        case 6, 7 -> write(cache, leaf, random);
        case 8 -> merge(cache, leaf, random);
        case 16, 17, 18, 19 ->
            change(cache, registered.segment(), added, random.nextInt(slabs), at);
        default -> hits += check(cache, leaf, pair, segments) == 0 ? 0 : 1;
      }
    }
    long images = 0;
    for (int leaf : numbers) {
      for (int pair = 0; pair < PAIRS; pair++) {
        images += check(cache, leaf, pair, BOTH) == 0 ? 0 : 1;
      }
    }
    assertThat(cache.images()).isEqualTo(images);
    assertThat(cache.bytesUsed()).isEqualTo(images * 264);
    assertThat(hits).isGreaterThan(STEPS / 1_000);
  }

  private void write(ImageCache cache, int leaf, Random random) {
    int place = random.nextInt(SEGMENTS * LeafLayout.SLOTS);
    long value = random.nextLong();
    words(leaf)[2 * place + 1] = value;
    cache.noteWritten(leaf, place, value, true, BACKOFF);
  }

  /** Gives a leaf another extent. */
  private void merge(ImageCache cache, int leaf, Random random) {
    assertThat(entries.tryLatch(leaf)).isTrue();
    entries.startMerge(leaf, true);
    cache.drop(leaf, SEGMENTS, BACKOFF);
    entries.startPublish(leaf);
    leaves.put(leaf, random.longs((long) SEGMENTS * WORDS).toArray());
    entries.endPublish(leaf);
    entries.unlatch(leaf, 0);
  }

  /** Adds a slab that is not there, or removes one that is, whose bytes others use then. */
  private static void change(
      ImageCache cache, MemorySegment memory, boolean[] added, int slab, long bytes) {
    MemorySegment ofSlab = memory.asSlice(slab * bytes, bytes);
    if (added[slab]) {
      cache.removeSlab(slab * bytes, BACKOFF);
      ofSlab.fill(OF_OTHERS);
    } else {
      byte before = ofSlab.get(JAVA_BYTE, 0);
      assertThat(ofSlab.toArray(JAVA_BYTE)).as("no session writes to it").containsOnly(before);
      cache.addSlab(slab * bytes, BACKOFF);
    }
    added[slab] = !added[slab];
  }

  @Test
  void shouldGiveEachSlabAsMuch() {
    Random random = new Random(Seeds.of(7));
    int leaf = leaf(random);
    int slabs = 7;
    long slabBytes = 100L * ImageCache.SET_BYTES;
    ImageCache cache =
        new ImageCache(entries, fabric.register(slabs * slabBytes).segment(), slabBytes, true);
    for (int slab = 0; slab < slabs; slab++) {
      cache.addSlab(slab * slabBytes, BACKOFF);
    }
    for (int i = 0; i < 4_000; i++) {
      int one = i % 2 == 0 ? leaf : entries.take();
      leaves.putIfAbsent(one, words(leaf));
      admit(cache, one, i % PAIRS, 1);
    }
    long before = cache.images();
    cache.removeSlab(3 * slabBytes, BACKOFF);
    assertThat(cache.images()).isBetween(before * 5 / 7, before * 6 / 7 + before / 20);
    cache.addSlab(3 * slabBytes, BACKOFF);
    assertThat(cache.images()).isBetween(before * 4 / 7, before * 6 / 7);
  }

  @Test
  void shouldRefuseSlabsThatThereAreNot() {
    assertThatThrownBy(() -> new ImageCache(entries, buffer, 64, true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("bytes of a slab of images out of range: bytes=64, minimum=2112");
    ImageCache cache = cacheOf(ImageCache.SET_BYTES);
    assertThatThrownBy(() -> cache.removeSlab(8, BACKOFF))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no such slab: at=8");
    cache.removeSlab(0, BACKOFF);
    assertThat(cache.isOn()).isFalse();
  }

  /** The system need not provide memory that was never written. */
  @Test
  void shouldWriteNothingWhereNothingIsCached() {
    long slabBytes = 10 * ImageCache.SET_BYTES;
    MemorySegment unwritten = arena.allocate(2 * slabBytes, Long.BYTES).asReadOnly();
    ImageCache cache = new ImageCache(entries, unwritten, slabBytes, true);
    cache.addSlabs(new long[] {0}, BACKOFF);
    cache.addSlab(slabBytes, BACKOFF);
    cache.clear();
    cache.removeSlab(0, BACKOFF);
    assertThat(cache.images()).isZero();
    assertThat(cache.slabs()).containsExactly(slabBytes);
  }
}
