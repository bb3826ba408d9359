package pando.index.orca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.Entries;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Tree;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.directory.LeafPointer;
import pando.index.orca.leaf.LeafLayout;
import pando.index.pool.Catalogue;
import pando.index.pool.NodePlaces;

/** Damaged pages, headers and roots are found when an index is joined, or do no harm. */
@Timeout(300)
class OrcaDamageTest {
  private static final int MEMORY_SERVERS = 2;
  private static final int COMPUTE_SERVERS = 2;
  private static final int REGION_BYTES = 16 << 10;
  private static final int ENTRIES = 500;

  /** Bytes of slots from one that is damaged to the next. */
  private static final int SLOT_STEP = Seeds.count(17, 2, 1);

  /** Bytes of pages from one that is damaged to the next. */
  private static final int PAGE_STEP = Seeds.count(61, 5, 1);

  private static final long IMAGE = 0;
  private static final long MESSAGE = 4096;

  private final SplittableRandom random = new SplittableRandom(Seeds.of(1211));
  private final NavigableMap<Long, Long> model = Entries.random(random, ENTRIES);
  private final List<List<List<TreeReader.Page>>> ranges = new ArrayList<>();
  private OrcaOptions options =
      ((OrcaOptions) OrcaOptions.ORCA.tiny())
          .withCacheBytes(32 << 10)
          .withComputeServers(COMPUTE_SERVERS);
  private Fabric fabric;
  private RegisteredMemory registered;
  private Worker worker;
  private long table;
  private long usedBytes;

  @BeforeEach
  void load() {
    fabric = Pools.open(MEMORY_SERVERS, 1 << 20, 1211);
    registered = fabric.register(MESSAGE + Worker.CALL_BYTES_MAX);
    worker = fabric.worker(registered);
    try (RangeIndex index = options.create(fabric, 0, COMPUTE_SERVERS)) {
      index.bulkLoad(Entries.of(model), 0.7);
    }
    usedBytes = used();
    NodePlaces places = new NodePlaces(fabric, RootTable.BYTES);
    Catalogue catalogue = new Catalogue(worker, MESSAGE, places, OrcaServer.SYSTEM);
    table = Catalogue.rootAddress(catalogue.root());
    Partitioning partitioning = catalogue.readPartitioning();
    try (OrcaServer server = new OrcaServer(0, fabric, options, REGION_BYTES, new Random(1))) {
      server.withContext(context -> readRanges(new TreeReader(context), partitioning));
    }
    assertThat(ranges.get(1)).as("levels").hasSizeGreaterThan(1);
  }

  private void readRanges(TreeReader reader, Partitioning partitioning) {
    for (int range = 0; range < COMPUTE_SERVERS; range++) {
      long low = partitioning.lowOfRange(range);
      long high = partitioning.highOfRange(range);
      ranges.add(reader.read(table, range, low, high, (pointer, header) -> {}));
    }
  }

  @AfterEach
  void close() {
    worker.close();
    registered.close();
    fabric.close();
  }

  private long used() {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  @Tag("campaign")
  @Test
  void shouldFindDamagedBytesOfPages() {
    for (List<TreeReader.Page> pages : ranges.get(1)) {
      damageBytes(pages.getLast().address(), DirectoryPage.BYTES, PAGE_STEP);
    }
  }

  @Test
  void shouldFindEachDamagedByteOfHeaders() {
    TreeReader.Page page = ranges.get(1).getLast().getFirst();
    damageEachByte(LeafPointer.address(page.pointers()[1]), LeafLayout.HEADER_BYTES);
  }

  @Test
  void shouldFindEachDamagedByteOfRoots() {
    damageEachByte(table, COMPUTE_SERVERS * Long.BYTES);
    damageEachByte(GlobalAddress.of(0, 128), Long.BYTES);
  }

  private void damageEachByte(long address, int bytes) {
    damageBytes(address, bytes, 1);
  }

  private void damageBytes(long address, int bytes, int step) {
    for (int at = random.nextInt(step); at < bytes; at += step) {
      int flip = random.nextInt(1, 256);
      long word = address + (at & -Long.BYTES);
      long before = read(word);
      String what =
          "%s, byte %s ^ %s of %s".formatted(GlobalAddress.toString(address), at, flip, bytes);
      write(word, before ^ ((long) flip << (at % Long.BYTES * Byte.SIZE)));
      boolean found = findsDamage(what);
      Tree tree = options.walk(fabric);
      assertThat(found || tree.problems().isEmpty()).as(what).isTrue();
      assertThat(!tree.problems().isEmpty() || tree.entries().equals(model)).as(what).isTrue();
      write(word, before);
    }
    assertThat(findsDamage("nothing")).isFalse();
  }

  /** Joins; returns whether damage was found, else checks that all answers are right. */
  private boolean findsDamage(String what) {
    boolean found = false;
    try (RangeIndex index = options.join(fabric, 0, COMPUTE_SERVERS);
        Session session = index.session()) {
      Entries.check(session, model, what);
    } catch (CorruptNodeException e) {
      assertThat(e).hasMessageContaining(GlobalAddress.toString(e.address()));
      found = true;
    }
    assertThat(used()).as(what).isEqualTo(usedBytes);
    return found;
  }

  @Test
  void shouldFindPointersToWhatIsNotTheChild() {
    List<List<TreeReader.Page>> levels = ranges.get(1);
    TreeReader.Page low = levels.getLast().getFirst();
    TreeReader.Page inner = levels.get(levels.size() - 2).getFirst();
    long leaf = low.pointers()[0];
    long other = low.pointers()[1];
    long foreign = ranges.get(0).getLast().getFirst().pointers()[0];
    Map<String, Long> pointers = new LinkedHashMap<>();
    pointers.put("nothing", 0L);
    pointers.put("the neighbour", other);
    pointers.put("a leaf of another range", foreign);
    pointers.put("one segment more", LeafPointer.of(LeafPointer.address(leaf), 3));
    pointers.put("too many segments", LeafPointer.of(LeafPointer.address(leaf), 31));
    pointers.put("its page", LeafPointer.of(low.address(), 0));
    pointers.put("its page as a leaf", LeafPointer.of(low.address(), 2));
    pointers.put("the page above", LeafPointer.of(inner.address(), 0));
    pointers.put("within the leaf", LeafPointer.of(LeafPointer.address(leaf) + 64, 2));
    pointers.put("the catalogue", LeafPointer.of(GlobalAddress.of(0, 64), 2));
    pointers.put("far outside", LeafPointer.of(GlobalAddress.of(0, 1L << 40), 2));
    pointers.put("no memory server", LeafPointer.of(GlobalAddress.of(17, 1 << 16), 2));
    pointers.put("minus one", -1L);
    for (TreeReader.Page page : List.of(low, inner)) {
      long word = page.address() + DirectoryPage.pointerPosition(0);
      long before = read(word);
      pointers.forEach((what, pointer) -> {
        write(word, pointer);
        assertThat(pointer == before || findsDamage(what)).as(what).isTrue();
        assertThat(options.walk(fabric).problems().isEmpty()).as(what).isEqualTo(pointer == before);
      });
      write(word, before);
    }
    assertThat(findsDamage("nothing")).isFalse();
  }

  @Test
  void shouldFindRootsOfOtherTrees() {
    long first = read(RootTable.wordAddress(table, 0));
    long word = RootTable.wordAddress(table, 1);
    long before = read(word);
    long below = ranges.get(1).get(1).getFirst().address();
    long nowhere = GlobalAddress.of(1, Fabric.CATALOGUE_BYTES + 60 * REGION_BYTES);
    for (long root :
        new long[] {0, first, -1, RootTable.word(1, below), RootTable.word(1, nowhere)}) {
      write(word, root);
      assertThat(findsDamage("root")).as("root=0x%x", root).isTrue();
      assertThat(options.walk(fabric).problems()).as("root=0x%x", root).isNotEmpty();
    }
    write(word, before);
    assertThat(findsDamage("nothing")).isFalse();
  }

  @Test
  void shouldFindExtentsThatOverlap() {
    close();
    ranges.clear();
    options = options.withNodeBytes(8 * LeafLayout.UNIT_BYTES);
    load();
    TreeReader.Page page = ranges.get(1).getLast().getFirst();
    long first = LeafPointer.address(page.pointers()[0]);
    long second = LeafPointer.address(page.pointers()[1]);
    long within = first + LeafLayout.UNIT_BYTES;
    worker.read(second, IMAGE, LeafLayout.HEADER_BYTES);
    worker.write(within, IMAGE, LeafLayout.HEADER_BYTES);
    int segments = LeafPointer.segments(page.pointers()[1]);
    write(page.address() + DirectoryPage.pointerPosition(1), LeafPointer.of(within, segments));
    assertThatThrownBy(() -> options.join(fabric, 0, COMPUTE_SERVERS).close())
        .isInstanceOf(CorruptNodeException.class)
        .hasMessageContaining(GlobalAddress.toString(within))
        .hasMessageContaining("in use");
    assertThat(options.walk(fabric).problems())
        .anyMatch(problem -> problem.contains("overlaps the extent"));
  }

  /** A slot of a leaf that is damaged. */
  private final class Slot {
    final long address;
    final long key;
    final boolean isRecord;

    Slot(long leaf, int place) {
      address = leaf + LeafLayout.keyPosition(place);
      key = read(address);
      isRecord = Long.valueOf(read(address + Long.BYTES)).equals(model.get(key));
    }
  }

  /** A damaged value, or a key in place of another of its segment, is not detected. */
  @Test
  void shouldAnswerRightOrFindEachDamagedByteOfSegments() {
    TreeReader.Page page = ranges.get(1).getLast().getFirst();
    long leaf = LeafPointer.address(page.pointers()[1]);
    int slots = LeafPointer.segments(page.pointers()[1]) * LeafLayout.SLOTS;
    NavigableMap<Long, Long> inLeaf = model.subMap(page.lows()[1], true, page.lows()[2], false);
    int voids = 0;
    for (int at = 0; at < slots * LeafLayout.SLOT_BYTES; at += SLOT_STEP) {
      Slot slot = new Slot(leaf, at / LeafLayout.SLOT_BYTES);
      long word = slot.address + (at & Long.BYTES);
      long before = read(word);
      long damaged = before ^ (long) random.nextInt(1, 256) << (at % Long.BYTES * Byte.SIZE);
      write(word, damaged);
      String what = "place %s, byte %s".formatted(at / LeafLayout.SLOT_BYTES, at);
      try (RangeIndex index = options.join(fabric, 0, COMPUTE_SERVERS);
          Session session = index.session()) {
        int found = 0;
        for (Map.Entry<Long, Long> entry : inLeaf.entrySet()) {
          found += answers(session, entry.getKey(), entry.getValue(), slot, what) ? 0 : 1;
        }
        assertThat(slot.isRecord || found > 0).as(what).isTrue();
        voids += slot.isRecord ? 0 : 1;
        checkScan(session, slot, word == slot.address ? damaged : slot.key, what);
      }
      write(word, before);
    }
    assertThat(voids).as("bytes of void slots").isPositive();
    assertThat(findsDamage("nothing")).isFalse();
  }

  /** Returns whether a lookup answers; if not, it has found the damage. */
  private static boolean answers(Session session, long key, long value, Slot slot, String what) {
    try {
      boolean right = session.get(key) && session.value() == value;
      assertThat(right || (slot.isRecord && key == slot.key)).as("%s: %s", what, key).isTrue();
      return true;
    } catch (CorruptNodeException _) {
      return false;
    }
  }

  private void checkScan(Session session, Slot slot, long damagedKey, String what) {
    NavigableMap<Long, Long> expected = new TreeMap<>(model);
    NavigableMap<Long, Long> seen;
    try {
      seen = Entries.scan(session);
    } catch (CorruptNodeException _) {
      return;
    }
    for (long key : new long[] {slot.key, damagedKey}) {
      expected.remove(key);
      seen.remove(key);
    }
    assertThat(slot.isRecord).as(what).isTrue();
    assertThat(seen).as(what).isEqualTo(expected);
  }

  @Test
  void shouldWriteBackAllButADamagedLeaf() {
    TreeReader.Page page = ranges.get(1).getLast().getFirst();
    long leaf = LeafPointer.address(page.pointers()[1]);
    long low = page.lows()[1];
    int place = 0;
    while (new Slot(leaf, place).isRecord) {
      place++;
    }
    long word = leaf + LeafLayout.valuePosition(place);
    long before = read(word);
    RangeIndex index = options.join(fabric, 0, COMPUTE_SERVERS);
    try (Session session = index.session()) {
      session.store(low + 1, 1);
      for (Map.Entry<Long, Long> entry : List.copyOf(model.entrySet())) {
        long key = entry.getKey() + 2;
        if (key < low || key >= page.lows()[2]) {
          session.store(key, key);
          model.put(key, key);
        }
      }
    }
    write(word, ~before);
    assertThatThrownBy(index::close)
        .isInstanceOf(MemoryServerLostException.class)
        .hasMessageContaining(GlobalAddress.toString(leaf));
    assertThatThrownBy(index::session).hasMessage("the index is closed");
    write(word, before);
    Tree tree = options.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    assertThat(tree.entries()).isEqualTo(model);
  }

  private long read(long address) {
    worker.read(address, IMAGE, Long.BYTES);
    return Words.get(worker.memory(), IMAGE);
  }

  private void write(long address, long word) {
    Words.set(worker.memory(), IMAGE, word);
    worker.write(address, IMAGE, Long.BYTES);
  }
}
