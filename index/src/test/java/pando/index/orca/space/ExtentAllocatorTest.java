package pando.index.orca.space;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.local.LocalFabric;
import pando.fabric.pool.NodeAllocator;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;
import pando.index.HookedFabric;
import pando.index.Seeds;
import pando.index.orca.leaf.LeafLayout;

class ExtentAllocatorTest {
  private static final int SERVERS = 2;
  private static final int UNIT_BYTES = LeafLayout.UNIT_BYTES;
  private static final int REGION_BYTES = 64 << 10;
  private static final int REGION_UNITS = REGION_BYTES / UNIT_BYTES;
  private static final int REGIONS = 24;
  private static final int UNITS = SERVERS * REGIONS * REGION_UNITS;
  private static final int UNITS_MAX = 32;
  private static final int THREADS = 4;

  private Fabric fabric;
  private RegisteredMemory memory;
  private Worker worker;
  private ExtentAllocator allocator;

  @BeforeEach
  void open() {
    open(REGION_BYTES, REGIONS, REGION_BYTES);
  }

  private void open(int chunkBytes, int chunks, int regionBytes) {
    fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(SERVERS)
                .withChunkBytes(chunkBytes)
                .withBytesPerServer((long) chunks * chunkBytes));
    memory = fabric.register((long) THREADS * Worker.CALL_BYTES_MAX);
    worker = fabric.worker(memory);
    allocator = new ExtentAllocator(SERVERS, regionBytes);
  }

  @AfterEach
  void close() {
    fabric.close();
    memory.close();
  }

  private long usedBytes() {
    return fabric.usage().stream().mapToLong(PoolUsage::usedBytes).sum();
  }

  private long allocate(int server, int units) {
    return allocator.allocate(worker, 0, server, units, 1);
  }

  private void free(long address, int units) {
    allocator.free(worker, 0, address, units);
  }

  /** Adds an extent to a set of extents, none of which may overlap. */
  private static void add(NavigableMap<Long, Integer> extents, long address, int units) {
    Map.Entry<Long, Integer> before = extents.lowerEntry(address + (long) units * UNIT_BYTES);
    if (before != null) {
      assertThat(before.getKey() + (long) before.getValue() * UNIT_BYTES)
          .as("end of the extent before")
          .isLessThanOrEqualTo(address);
    }
    extents.put(address, units);
  }

  private static long bytes(Map<Long, Integer> extents) {
    return extents.values().stream().mapToLong(units -> (long) units * UNIT_BYTES).sum();
  }

  private static void checkPlace(long address, int units, int alignUnits) {
    long offset = GlobalAddress.offset(address);
    assertThat(offset % ((long) alignUnits * UNIT_BYTES)).isZero();
    long inRegion = (offset - Fabric.CATALOGUE_BYTES) % REGION_BYTES;
    assertThat(inRegion + (long) units * UNIT_BYTES).isLessThanOrEqualTo(REGION_BYTES);
  }

  @ParameterizedTest(name = "share={0}")
  @ValueSource(doubles = {0.3, 0.7, 1})
  void shouldBehaveLikeASetOfIntervals(double share) {
    SplittableRandom random = new SplittableRandom(Seeds.of(2611));
    TreeMap<Long, Integer> extents = new TreeMap<>();
    List<Long> addresses = new ArrayList<>();
    int full = 0;
    int used = 0;
    for (int step = 0; step < Seeds.count(6_000, 10_000); step++) {
      boolean more = used < share * UNITS;
      if (extents.isEmpty() || random.nextInt(10) < (more ? 7 : 3)) {
        int units = random.nextInt(1, UNITS_MAX + 1);
        int align = 1 << random.nextInt(4);
        try {
          long address = allocator.allocate(worker, 0, random.nextInt(SERVERS), units, align);
          checkPlace(address, units, align);
          add(extents, address, units);
          addresses.add(address);
          used += units;
        } catch (PoolFullException _) {
          full++;
        }
      } else {
        int index = random.nextInt(addresses.size());
        long address = addresses.get(index);
        addresses.set(index, addresses.getLast());
        addresses.removeLast();
        int units = Objects.requireNonNull(extents.remove(address));
        free(address, units);
        used -= units;
      }
      assertThat(allocator.bytesInUse()).isEqualTo((long) used * UNIT_BYTES);
    }
    System.out.printf(
        "share=%.1f full=%d used=%d held=%d%n",
        share, full, allocator.bytesInUse(), allocator.bytesHeld());
    assertThat(full > 0).isEqualTo(share == 1);
    extents.forEach(this::free);
    assertThat(allocator.bytesInUse()).isZero();
    assertThat(allocator.bytesHeld()).isLessThanOrEqualTo((long) SERVERS * REGION_BYTES);
    allocator.trim(worker, 0);
    assertThat(allocator.bytesHeld()).isZero();
    assertThat(usedBytes()).isZero();
  }

  @Test
  void shouldMakeSureOfRoomInGapsOrInNewRegions() {
    allocator.ensureRoom(worker, 0, 0, 3 * REGION_UNITS, UNITS_MAX);
    assertThat(allocator.bytesHeld()).isEqualTo(3 * REGION_BYTES);
    assertThat(allocator.bytesInUse()).isZero();
    List<Long> extents = new ArrayList<>();
    for (int i = 0; i < UNITS; i++) {
      extents.add(allocator.allocate(worker, 0, 0, 1, 1));
    }
    assertThatThrownBy(() -> allocator.ensureRoom(worker, 0, 0, 1, 1))
        .isInstanceOf(PoolFullException.class);
    extents.sort(null);
    for (int i = 0; i < UNITS_MAX; i++) {
      assertThat(allocator.hasRoom(UNITS_MAX, UNITS_MAX)).isFalse();
      allocator.free(worker, 0, extents.get(100 - i), 1);
    }
    allocator.ensureRoom(worker, 0, 0, UNITS_MAX, UNITS_MAX);
    assertThatThrownBy(() -> allocator.ensureRoom(worker, 0, 0, UNITS_MAX + 1, UNITS_MAX))
        .isInstanceOf(PoolFullException.class);
  }

  /** Room is not counted each time: what it was taken for last may be gone by now. */
  @Test
  void shouldNotPromiseRoomThatIsGone() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2613));
    List<long[]> extents = new ArrayList<>();
    int promised = 0;
    for (int step = 0; step < 20_000; step++) {
      boolean grows = step / 2_000 % 2 == 0;
      if (extents.isEmpty() || random.nextInt(10) < (grows ? 7 : 3)) {
        int units = random.nextInt(1, UNITS_MAX + 1);
        try {
          long address = allocator.allocate(worker, 0, random.nextInt(SERVERS), units, 1);
          extents.add(new long[] {address, units});
        } catch (PoolFullException _) {
          // What is full has to be seen, too.
        }
      } else {
        long[] extent = extents.remove(random.nextInt(extents.size()));
        allocator.free(worker, 0, extent[0], (int) extent[1]);
      }
      int wanted = random.nextInt(1, 2 * REGION_UNITS);
      if (allocator.hasRoom(wanted, UNITS_MAX)) {
        promised++;
        int room = allocator.room(UNITS_MAX, Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertThat(room).isGreaterThanOrEqualTo(wanted);
      }
    }
    assertThat(promised).isPositive();
    extents.forEach(extent -> allocator.free(worker, 0, extent[0], (int) extent[1]));
  }

  /** Room that is counted while an extent is looked for may be what the extent gets. */
  @Test
  void shouldNotPromiseRoomThatAnExtentIsAboutToTake() {
    for (int i = 0; i < REGIONS; i++) {
      allocate(0, REGION_UNITS);
      allocate(1, REGION_UNITS);
    }
    free(GlobalAddress.of(1, Fabric.CATALOGUE_BYTES), REGION_UNITS);
    HookedFabric hooked = new HookedFabric(fabric);
    hooked.hookNext(
        verbs -> true,
        posting -> {
          assertThat(allocator.hasRoom(REGION_UNITS, UNITS_MAX)).isTrue();
          posting.post();
        });
    allocator.allocate(hooked.worker(memory), 0, 0, UNITS_MAX, 1);
    assertThat(hooked.unhook()).isOne();
    assertThat(allocator.hasRoom(REGION_UNITS, UNITS_MAX)).isFalse();
    assertThat(allocator.hasRoom(REGION_UNITS - UNITS_MAX, UNITS_MAX)).isTrue();
  }

  @Test
  void shouldGiveThreadsExtentsThatDoNotOverlap() throws Exception {
    long seed = Seeds.of(2612);
    Set<Long> inUse = ConcurrentHashMap.newKeySet();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        long message = (long) thread * Worker.CALL_BYTES_MAX;
        SplittableRandom random = new SplittableRandom(seed + thread);
        tasks.add(() -> {
          churn(fabric.worker(memory), message, random, inUse);
          return null;
        });
      }
      for (Future<Void> done : threads.invokeAll(tasks)) {
        done.get();
      }
    }
    assertThat(inUse).isEmpty();
    assertThat(allocator.bytesInUse()).isZero();
    allocator.trim(worker, 0);
    assertThat(usedBytes()).isZero();
  }

  private void churn(Worker worker, long message, SplittableRandom random, Set<Long> inUse) {
    TreeMap<Long, Integer> extents = new TreeMap<>();
    for (int step = 0; step < 3000; step++) {
      int units = random.nextInt(1, UNITS_MAX + 1);
      try {
        long address = allocator.allocate(worker, message, random.nextInt(SERVERS), units, 1);
        extents.put(address, units);
        for (int unit = 0; unit < units; unit++) {
          assertThat(inUse.add(address + (long) unit * UNIT_BYTES)).isTrue();
        }
      } catch (PoolFullException _) {
        assertThat(extents).as("nothing to free, but the pool is full").isNotEmpty();
      }
      while (extents.size() > random.nextInt(1, 700)) {
        free(worker, message, extents.pollFirstEntry(), inUse);
      }
    }
    while (!extents.isEmpty()) {
      free(worker, message, extents.pollFirstEntry(), inUse);
    }
  }

  private void free(Worker worker, long message, Map.Entry<Long, Integer> extent, Set<Long> inUse) {
    for (int unit = 0; unit < extent.getValue(); unit++) {
      assertThat(inUse.remove(extent.getKey() + (long) unit * UNIT_BYTES)).isTrue();
    }
    allocator.free(worker, message, extent.getKey(), extent.getValue());
  }

  @Test
  void shouldUseEveryUnitOfThePool() {
    TreeMap<Long, Integer> extents = new TreeMap<>();
    for (int i = 0; i < UNITS; i++) {
      add(extents, allocate(0, 1), 1);
    }
    assertThat(allocator.bytesInUse()).isEqualTo((long) UNITS * UNIT_BYTES);
    assertThatThrownBy(() -> allocate(1, 1))
        .isInstanceOf(PoolFullException.class)
        .hasMessageContaining("memory pool is full");
    SplittableRandom random = new SplittableRandom(Seeds.of(2613));
    for (int round = 0; round < 1000; round++) {
      long address =
          GlobalAddress.of(
              random.nextInt(SERVERS),
              Fabric.CATALOGUE_BYTES + (long) random.nextInt(REGIONS * REGION_UNITS) * UNIT_BYTES);
      free(address, 1);
      assertThat(allocate(random.nextInt(SERVERS), 1)).isEqualTo(address);
    }
  }

  @Test
  void shouldUseAnotherMemoryServerWhenOneIsFull() {
    for (int i = 0; i < SERVERS * REGIONS; i++) {
      long address = allocate(1, REGION_UNITS);
      assertThat(GlobalAddress.server(address)).isEqualTo(i < REGIONS ? 1 : 0);
    }
  }

  @Test
  void shouldShareRegionsOfAnotherMemoryServerWhenOneIsFull() {
    for (int i = 0; i < REGIONS; i++) {
      allocate(1, REGION_UNITS);
    }
    for (int i = 0; i < REGION_UNITS / 4; i++) {
      assertThat(GlobalAddress.server(allocate(1, 4))).isZero();
    }
    assertThat(allocator.bytesHeld()).isEqualTo((REGIONS + 1L) * REGION_BYTES);
  }

  @Test
  void shouldTakeANewRegionAfterManyShortGaps() {
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < 2 * REGION_UNITS; i++) {
      addresses.add(allocate(0, 1));
    }
    for (int i = 0; i < addresses.size(); i += 2) {
      free(addresses.get(i), 1);
    }
    // 48 gaps of one unit do not stop the next extent of one unit, nor does one gap too few.
    assertThat(allocate(0, 1)).isEqualTo(addresses.getFirst());
    allocate(0, 2);
    assertThat(allocator.bytesHeld()).isEqualTo(3L * REGION_BYTES);
    for (int i = 1; i < REGION_UNITS / 2; i++) {
      allocate(0, 2);
    }
    assertThat(allocator.bytesHeld()).isEqualTo(3L * REGION_BYTES);
    // Behind the new region the search goes on, so the gaps before it are used again.
    for (int i = 0; i < REGION_UNITS - 1; i++) {
      allocate(0, 1);
    }
    assertThat(allocator.bytesHeld()).isEqualTo(3L * REGION_BYTES);
    assertThat(allocator.bytesInUse()).isEqualTo(allocator.bytesHeld());
  }

  @Test
  void shouldTakeTheShortestGapThatIsLongEnoughWhereThePoolIsFull() {
    for (int i = 0; i < SERVERS * REGIONS - 1; i++) {
      allocate(1, REGION_UNITS);
    }
    List<Long> addresses = new ArrayList<>();
    for (int i = 0; i < REGION_UNITS; i++) {
      addresses.add(allocate(1, 1));
    }
    assertThatThrownBy(() -> allocate(1, 1)).isInstanceOf(PoolFullException.class);
    free(addresses.get(10), 8);
    free(addresses.get(30), 3);
    free(addresses.get(50), 5);
    assertThat(allocate(1, 3)).isEqualTo(addresses.get(30));
    assertThat(allocate(1, 4)).isEqualTo(addresses.get(50));
    assertThat(allocate(1, 8)).isEqualTo(addresses.get(10));
    assertThat(allocate(1, 1)).isEqualTo(addresses.get(54));
  }

  @Test
  void shouldUseFreedSpaceAgain() {
    for (int round = 0; round < 1000; round++) {
      long first = allocate(0, 8);
      long second = allocate(0, 3);
      free(first, 8);
      free(second, 3);
    }
    assertThat(allocator.bytesHeld()).isEqualTo(REGION_BYTES);
  }

  @Test
  void shouldClaimExtentsOfAFormerOwnerAndGiveTheirRegionsBack() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2614));
    TreeMap<Long, Integer> extents = new TreeMap<>();
    for (int i = 0; i < 500; i++) {
      int units = random.nextInt(1, UNITS_MAX + 1);
      extents.put(allocate(i % SERVERS, units), units);
    }
    long held = allocator.bytesHeld();
    allocator = new ExtentAllocator(SERVERS, REGION_BYTES);
    extents.forEach(allocator::claim);
    assertThat(allocator.bytesInUse()).isEqualTo(bytes(extents));
    assertThat(allocator.bytesHeld()).isEqualTo(held);
    Map.Entry<Long, Integer> one = extents.firstEntry();
    assertThatThrownBy(() -> allocator.claim(one.getKey(), one.getValue()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("units to claim are in use: address=0:0x");
    for (int i = 0; i < 500; i++) {
      int units = random.nextInt(1, UNITS_MAX + 1);
      add(extents, allocate(i % SERVERS, units), units);
    }
    extents.forEach(this::free);
    allocator.trim(worker, 0);
    assertThat(allocator.bytesHeld()).isZero();
    assertThat(usedBytes()).isZero();
  }

  @Test
  void shouldRejectWhatIsNoExtent() {
    long address = allocate(0, 4);
    free(address + 2 * UNIT_BYTES, 2);
    assertThatThrownBy(() -> free(address, 4))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("units to free are not in use: address=0:0x4000, units=4");
    assertThatThrownBy(() -> free(address + REGION_BYTES, 1))
        .isInstanceOf(IllegalStateException.class);
    assertThat(allocator.bytesInUse()).isEqualTo(2L * UNIT_BYTES);
    free(address, 2);
    assertThatThrownBy(() -> free(address, 2)).isInstanceOf(IllegalStateException.class);
    for (long wrong :
        new long[] {
          0,
          address + 8,
          address + (long) (REGION_UNITS - 3) * UNIT_BYTES,
          GlobalAddress.of(SERVERS, GlobalAddress.offset(address)),
          GlobalAddress.onChip(0, GlobalAddress.offset(address)),
          GlobalAddress.swizzled(address)
        }) {
      assertThatThrownBy(() -> free(wrong, 4)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> allocator.claim(wrong, 4))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> allocate(SERVERS, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocate(0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocate(0, REGION_UNITS + 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> allocator.allocate(worker, 0, 0, 1, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("alignUnits=3");
    assertThatThrownBy(() -> new ExtentAllocator(1, 2 << 10))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** As one does that has lost its table of chunks; nothing is taken then. */
  @Test
  void shouldFailWhereAMemoryServerGivesARegionTwice() {
    long address = allocate(0, REGION_UNITS);
    NodeAllocator other = new NodeAllocator(SERVERS, REGION_BYTES);
    other.free(worker, 0, address);
    other.trim(worker, 0);
    assertThatThrownBy(() -> allocate(0, 4))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("address=" + GlobalAddress.toString(address));
    assertThat(allocator.bytesInUse()).isEqualTo(REGION_BYTES);
    long next = allocate(0, 4);
    assertThat(next).isNotEqualTo(address);
    free(next, 4);
  }

  @ParameterizedTest(name = "{0} KiB")
  @CsvSource({
    "4,     4",
    "16,    4",
    "48,    8",
    "64,    16",
    "256,   64",
    "1024,  128",
    "1280,  128",
    "20480, 64",
    "17408, 16",
  })
  void shouldDivideChunksIntoRegions(int chunkKiB, int regionKiB) {
    int regionBytes = ExtentAllocator.regionBytes(chunkKiB << 10);
    assertThat(regionBytes).isEqualTo(regionKiB << 10);
    close();
    open(chunkKiB << 10, 3, regionBytes);
    TreeMap<Long, Integer> extents = new TreeMap<>();
    int units = regionBytes / UNIT_BYTES;
    for (int i = 0; i < 20 && i < SERVERS * 3 * chunkKiB / regionKiB; i++) {
      add(extents, allocate(0, units), units);
    }
    extents.forEach(this::free);
    allocator.trim(worker, 0);
    assertThat(usedBytes()).isZero();
  }

  @ParameterizedTest(name = "{0} bytes")
  @ValueSource(ints = {2 << 10, 3 * (2 << 10), 257 * (64 << 10), 16_448})
  void shouldRejectChunksWithoutRegions(int chunkBytes) {
    assertThatThrownBy(() -> ExtentAllocator.regionBytes(chunkBytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("chunkBytes=" + chunkBytes);
  }
}
