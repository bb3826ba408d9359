package pando.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.local.LocalFabric;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;

/**
 * What every fabric does, whichever memory its memory servers have. All public, since JUnit may
 * look into the packages of the subclasses alone.
 */
@SuppressWarnings("exports")
public abstract class FabricContract {
  private static final long SEED = 0x5EED_0005L;
  private static final int SERVERS = 2;
  private static final int CHUNK_BYTES = 64 << 10;
  private static final long POOL_BYTES = 16 * CHUNK_BYTES;
  private static final long DRAM_BYTES = POOL_BYTES + Fabric.CATALOGUE_BYTES;
  private static final long MEMORY_BYTES = 64 << 10;

  /** Where tests put data in local memory. */
  private static final long LOCAL = 8192;

  private static final int FENCES = Boolean.getBoolean("pando.soak") ? 1_000 : 4;
  private static final int RACES = Boolean.getBoolean("pando.campaign") ? 200_000 : 20_000;
  private static final int WRITERS = 8;

  private static final long NODE = GlobalAddress.of(1, 32 << 10);

  private Fabric fabric;
  private RegisteredMemory memory;
  private Worker worker;

  /** For subclasses. */
  protected FabricContract() {}

  /** Starts memory servers and joins them. */
  protected abstract Fabric open(PoolOptions options) throws Exception;

  /** Stops what closing the fabric does not. */
  protected abstract void stop();

  /** Closes the fabric, once or several times. */
  protected void close(Fabric open) {
    open.close();
  }

  /** Opens a worker for any thread. */
  protected Worker worker(Fabric open, RegisteredMemory memory) {
    return open.worker(memory);
  }

  /** Makes threads, which open workers of their own. */
  protected ExecutorService threads(Fabric open) {
    return Executors.newCachedThreadPool();
  }

  /** Returns the aligned bytes that land as one. */
  protected int atomicityBytes() {
    return Long.BYTES;
  }

  /** Returns whether there is a masked CAS of 16 bytes. */
  protected boolean cas16() {
    return true;
  }

  /** Returns whether verbs cost the memory servers processor time. */
  protected boolean remoteProcessor() {
    return false;
  }

  /** Returns whether compute servers can be fenced. */
  protected boolean fences() {
    return true;
  }

  /** Returns whether a fence may end a list in its middle. */
  protected boolean endsLists() {
    return false;
  }

  /** Joins the same memory servers as a compute server that can be fenced. */
  protected Fabric openAs(ComputeServer computeServer) throws Exception {
    throw new UnsupportedOperationException("no fences: " + computeServer);
  }

  /** Returns how often something is tried that a fabric in the same memory tries so often. */
  protected int tries(int inMemory) {
    return inMemory;
  }

  /** Returns how many workers a memory server must take; here more than a mailbox has slots. */
  protected int manyWorkers() {
    return MailboxLayout.SLOTS + 10;
  }

  @BeforeEach
  public void openFabric() throws Exception {
    System.out.println("seed=" + SEED);
    fabric =
        open(
            PoolOptions.defaults()
                .withMemoryServers(SERVERS)
                .withChunkBytes(CHUNK_BYTES)
                .withBytesPerServer(POOL_BYTES)
                .withProcessorThreads(3)
                .withSeed(SEED)
                .withHandlers(TestHandlers.all()));
    memory = fabric.register(MEMORY_BYTES);
    worker = worker(fabric, memory);
  }

  @AfterEach
  public void closeFabric() {
    close(fabric);
    memory.close();
    stop();
  }

  @Test
  public void shouldTellWhatItCanDo() {
    assertThat(fabric.memoryServers()).isEqualTo(SERVERS);
    assertThat(fabric.dramBytes(1)).isEqualTo(DRAM_BYTES);
    assertThatThrownBy(() -> fabric.dramBytes(2)).hasMessageContaining("server=2");
    Capabilities capabilities = fabric.capabilities();
    assertThat(capabilities.atomicityBytes()).isEqualTo(atomicityBytes());
    assertThat(capabilities.cas16()).isEqualTo(cas16());
    assertThat(capabilities.onChipBytes()).isEqualTo(256 << 10);
    assertThat(capabilities.remoteProcessor()).isEqualTo(remoteProcessor());
    assertThat(capabilities.fences()).isEqualTo(fences());
  }

  @Test
  public void shouldStartWithZeroes() {
    set(LOCAL, -1);
    worker.read(GlobalAddress.of(0, 0), LOCAL, Fabric.CATALOGUE_BYTES);
    for (int i = 0; i < Fabric.CATALOGUE_BYTES; i += 8) {
      assertThat(get(LOCAL + i)).isZero();
    }
  }

  @Test
  public void shouldReadWhatWasWrittenAtAnyOffsetAndLength() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < tries(2_000); round++) {
      int bytes = random.nextInt(2_000);
      long remote = NODE + random.nextInt(64);
      long source = LOCAL + random.nextInt(64);
      long target = 2 * LOCAL + random.nextInt(64);
      for (int i = 0; i < bytes; i += 8) {
        Words.setUnaligned(memory.segment(), source + i, random.nextLong());
      }
      worker.write(remote, source, bytes);
      worker.read(remote, target, bytes);
      assertThat(
              memory
                  .segment()
                  .asSlice(source, bytes)
                  .mismatch(memory.segment().asSlice(target, bytes)))
          .isEqualTo(-1);
    }
  }

  @Test
  public void shouldKeepMemoryServersAndRegionsApart() {
    long[] addresses = {
      GlobalAddress.of(0, 64),
      GlobalAddress.of(1, 64),
      GlobalAddress.onChip(0, 64),
      GlobalAddress.onChip(1, 64)
    };
    for (int i = 0; i < addresses.length; i++) {
      set(LOCAL, i + 1);
      worker.write(addresses[i], LOCAL, 8);
    }
    for (int i = 0; i < addresses.length; i++) {
      assertThat(read(addresses[i])).isEqualTo(i + 1);
    }
  }

  @Test
  public void shouldCompareAndSwap() {
    assertThat(worker.cas(NODE, 0, 5)).isZero();
    assertThat(worker.cas(NODE, 0, 6)).isEqualTo(5);
    assertThat(read(NODE)).isEqualTo(5);
    assertThat(worker.cas(GlobalAddress.onChip(1, 8), 0, 9)).isZero();
    assertThat(read(GlobalAddress.onChip(1, 8))).isEqualTo(9);
  }

  @Test
  public void shouldFetchAndAdd() {
    assertThat(worker.faa(NODE, 5)).isZero();
    assertThat(worker.faa(NODE, -7)).isEqualTo(5);
    assertThat(read(NODE)).isEqualTo(-2);
  }

  @Test
  public void shouldSwapUnderAMaskWhereBitsUnderAnotherMatch() {
    long start = 0x1122_3344_5566_7788L;
    assertThat(worker.cas(NODE, 0, start)).isZero();
    // Looks at one field, changes another.
    long found =
        worker.maskedCas(NODE, 0x5566_0000L, 0xffff_0000L, 0xaaaa_bbbb_cccc_ddddL, 0xffffL << 48);
    assertThat(found).isEqualTo(start);
    assertThat(read(NODE)).isEqualTo(0xaaaa_3344_5566_7788L);
    // Does not match: changes nothing, returns what is there.
    found = worker.maskedCas(NODE, 0x5567_0000L, 0xffff_0000L, 0, -1);
    assertThat(found).isEqualTo(0xaaaa_3344_5566_7788L);
    assertThat(read(NODE)).isEqualTo(0xaaaa_3344_5566_7788L);
    // An empty compare mask matches everything.
    assertThat(worker.maskedCas(NODE, 1, 0, 0, 0xffff)).isEqualTo(0xaaaa_3344_5566_7788L);
    assertThat(read(NODE)).isEqualTo(0xaaaa_3344_5566_0000L);
  }

  @Test
  public void shouldAddFieldByFieldWithoutCarry() {
    long boundaries = 0x8000_8000_8000_8000L;
    assertThat(worker.cas(NODE, 0, 0xffff_0001_ffff_7fffL)).isZero();
    assertThat(worker.maskedFaa(NODE, 0x0001_ffff_0002_0001L, boundaries))
        .isEqualTo(0xffff_0001_ffff_7fffL);
    assertThat(read(NODE)).isEqualTo(0x0000_0000_0001_8000L);
  }

  @Test
  public void shouldAddWithinFieldsOfAnyWidth() {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < tries(5_000); round++) {
      long before = random.nextLong();
      long addend = random.nextLong();
      long boundaries = random.nextLong() >>> random.nextInt(64);
      worker.write(NODE, put(before), 8);
      assertThat(worker.maskedFaa(NODE, addend, boundaries)).isEqualTo(before);
      assertThat(read(NODE)).isEqualTo(addFields(before, addend, boundaries));
    }
  }

  @Test
  public void shouldAddAllBitsWithoutBoundaries() {
    worker.write(NODE, put(-3), 8);
    worker.maskedFaa(NODE, 5, 0);
    assertThat(read(NODE)).isEqualTo(2);
  }

  @Test
  public void shouldSwap16BytesUnderMasks() {
    assumeTrue(cas16());
    setOperands(new long[] {0, 0, -1, -1, 1, 2, -1, -1});
    assertThat(worker.maskedCas16(NODE, LOCAL)).isTrue();
    assertThat(get(LOCAL + 64)).isZero();
    assertThat(read(NODE)).isEqualTo(1);
    assertThat(read(NODE + 8)).isEqualTo(2);
    setOperands(new long[] {1, 3, -1, -1, 7, 7, -1, -1});
    assertThat(worker.maskedCas16(NODE, LOCAL)).isFalse();
    assertThat(get(LOCAL + 64)).isEqualTo(1);
    assertThat(get(LOCAL + 72)).isEqualTo(2);
    setOperands(new long[] {1, 99, -1, 0, 0xff00, -1, 0xff00, 0xf0});
    assertThat(worker.maskedCas16(NODE, LOCAL)).isTrue();
    assertThat(read(NODE)).isEqualTo(0xff01);
    assertThat(read(NODE + 8)).isEqualTo(0xf2);
    assertThatThrownBy(() -> worker.maskedCas16(NODE + 8, LOCAL))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> worker.maskedCas16(NODE, LOCAL + 8))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  public void shouldKeep16BytesTogetherUnderTwoRacingWorkers() throws Exception {
    assumeTrue(cas16());
    long additions = tries(20_000);
    race(2, (own, number) -> addToBothHalves(own, additions));
    assertThat(read(NODE)).isEqualTo(2 * additions);
    assertThat(read(NODE + 8)).isEqualTo(2 * additions);
  }

  @Test
  public void shouldLoseNoAtomicUnderRacingWorkers() throws Exception {
    long additions = tries(20_000);
    race(
        3,
        (own, number) -> {
          for (int i = 0; i < additions; i++) {
            own.faa(NODE, 1);
            own.maskedFaa(NODE + 8, 1L << (16 * number), 0x8000_8000_8000_8000L);
            long seen = own.maskedCas(NODE + 16, 0, 0, 0, 0);
            while (true) {
              long found = own.cas(NODE + 16, seen, seen + 1);
              if (found == seen) {
                break;
              }
              seen = found;
            }
          }
        });
    assertThat(read(NODE)).isEqualTo(3 * additions);
    assertThat(read(NODE + 8)).isEqualTo(additions * 0x1_0001_0001L);
    assertThat(read(NODE + 16)).isEqualTo(3 * additions);
  }

  @Test
  public void shouldNotLetAReadOvertakeAWriteOrAnAtomic() throws Exception {
    int rounds = tries(RACES);
    long[][] seen = new long[2][rounds + 1];
    AtomicIntegerArray arrived = new AtomicIntegerArray(64);
    race(
        2,
        (own, number) -> {
          long mine = NODE + 256L * number;
          long other = NODE + 256L * (1 - number);
          for (int i = 1; i <= rounds; i++) {
            Words.set(own.memory(), 0, i);
            meet(arrived, 32 * number, 32 * (1 - number), i);
            if (i % 8 == 0) {
              own.cas(mine, i - 1, i);
            } else {
              own.write(mine, 0, 8);
            }
            own.read(other, 8, 8);
            seen[number][i] = Words.get(own.memory(), 8);
          }
        });
    for (int i = 1; i <= rounds; i++) {
      assertThat(Math.max(seen[0][i], seen[1][i])).isGreaterThanOrEqualTo(i);
    }
  }

  @Test
  public void shouldShowWritesInPostingOrder() throws Exception {
    int rounds = tries(50_000);
    race(
        2,
        (own, number) -> {
          VerbList list = new VerbList();
          long seen = 0;
          for (long i = 1; i <= rounds && seen < rounds; i++) {
            if (number == 0) {
              Words.set(own.memory(), 0, i);
              own.post(list.clear().write(NODE, 0, 8).write(NODE + 4096, 0, 8));
            } else {
              own.post(list.clear().read(NODE + 4096, 8, 8).read(NODE, 16, 8));
              seen = Words.get(own.memory(), 8);
              assertThat(Words.get(own.memory(), 16)).isGreaterThanOrEqualTo(seen);
            }
          }
        });
  }

  @Test
  public void shouldRunADoorbellListInOrderAsOneRoundTrip() {
    set(LOCAL, 7);
    setOperands(LOCAL + 256, new long[] {0, 0, 0, 0, 1, 2, -1, -1});
    VerbList list =
        new VerbList()
            .write(NODE, LOCAL, 8)
            .read(NODE, LOCAL + 8, 8)
            .faa(NODE, 3, LOCAL + 16)
            .cas(NODE, 10, 20, LOCAL + 24)
            .maskedCas(NODE, 20, 0xff, 0x3000, 0xf000, LOCAL + 32)
            .maskedFaa(NODE, 1, 0, LOCAL + 40);
    if (cas16()) {
      list.maskedCas16(NODE + 64, LOCAL + 256);
    }
    worker.post(list.read(NODE, LOCAL + 48, 8));
    assertThat(get(LOCAL + 8)).isEqualTo(7);
    assertThat(get(LOCAL + 16)).isEqualTo(7);
    assertThat(get(LOCAL + 24)).isEqualTo(10);
    assertThat(get(LOCAL + 32)).isEqualTo(20);
    assertThat(get(LOCAL + 40)).isEqualTo(0x3014);
    assertThat(get(LOCAL + 48)).isEqualTo(0x3015);
    assumeTrue(cas16());
    assertThat(worker.counters().toString())
        .isEqualTo(
            "reads=2, writes=1, atomics=5, calls=0, roundTrips=1, bytesIn="
                + (2 * 8 + 4 * 8 + 16)
                + ", bytesOut="
                + (8 + 8 + 16 + 32 + 16 + 64));
  }

  @Test
  public void shouldPostToOneMemoryServerOnly() {
    VerbList list =
        new VerbList()
            .write(GlobalAddress.of(0, 0), LOCAL, 8)
            .write(GlobalAddress.of(1, 0), LOCAL, 8);
    assertThatThrownBy(() -> worker.post(list))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0:0x0")
        .hasMessageContaining("1:0x0");
    assertThat(worker.counters().writes).isZero();
  }

  @Test
  public void shouldTellExactlyWhatBecameOfAListThatFails() {
    SplittableRandom random = new SplittableRandom(SEED);
    VerbList list = new VerbList();
    for (int round = 0; round < 200; round++) {
      int size = 1 + random.nextInt(12);
      int bad = random.nextInt(size);
      list.clear();
      for (int i = 0; i < size; i++) {
        list.faa(i == bad ? outside(random) : counter(i), 1, LOCAL + 8L * i);
      }
      long[] before = counters(size);
      boolean oneServer = GlobalAddress.server(list.remote(bad)) == GlobalAddress.server(NODE);
      assertThatThrownBy(() -> postOrScatter(list, oneServer))
          .isInstanceOf(InvalidAddressException.class);
      long[] after = counters(size);
      assertThat(list.outcome(bad)).isEqualTo(VerbList.Outcome.NOT_DONE);
      for (int i = 0; i < size; i++) {
        boolean done = list.outcome(i) == VerbList.Outcome.DONE;
        assertThat(after[i] - before[i]).isEqualTo(done ? 1 : 0);
        assertThat(list.outcome(i)).isNotEqualTo(VerbList.Outcome.UNKNOWN);
        if (done) {
          assertThat(get(LOCAL + 8L * i)).isEqualTo(before[i]);
        }
      }
      worker.post(list.clear().faa(NODE, 0, LOCAL));
      assertThat(list.outcome(0)).isEqualTo(VerbList.Outcome.DONE);
    }
  }

  @Test
  public void shouldTellThatNothingWasDoneOfAListThatIsRefused() {
    VerbList twoServers = new VerbList().faa(NODE, 1, LOCAL).faa(counter(0) ^ NODE, 1, LOCAL);
    VerbList beyond = new VerbList().faa(NODE, 1, MEMORY_BYTES).write(NODE, LOCAL, 8);
    VerbList late = new VerbList().faa(NODE, 1, LOCAL).read(NODE, LOCAL, 8);
    assertThatThrownBy(() -> worker.post(twoServers)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> worker.post(beyond)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(read(NODE)).isZero();
    worker.post(late);
    assertThat(late.outcome(1)).isEqualTo(VerbList.Outcome.DONE);
    worker.close();
    assertThatThrownBy(() -> worker.post(late)).isInstanceOf(IllegalStateException.class);
    for (VerbList list : List.of(twoServers, beyond, late)) {
      for (int i = 0; i < list.size(); i++) {
        assertThat(list.outcome(i)).isEqualTo(VerbList.Outcome.NOT_DONE);
      }
    }
  }

  private void postOrScatter(VerbList list, boolean post) {
    if (post) {
      worker.post(list);
    } else {
      worker.scatter(list);
    }
  }

  private static long outside(SplittableRandom random) {
    long[] none = {
      GlobalAddress.of(1, DRAM_BYTES),
      GlobalAddress.of(SERVERS, 0),
      GlobalAddress.onChip(1, 1 << 20)
    };
    return none[random.nextInt(none.length)];
  }

  private static long counter(int i) {
    return NODE + 1024 + 8L * i;
  }

  private long[] counters(int count) {
    worker.read(counter(0), 2 * LOCAL, 8 * count);
    return IntStream.range(0, count).mapToLong(i -> get(2 * LOCAL + 8L * i)).toArray();
  }

  @Test
  public void shouldScatterToSeveralMemoryServersAsOneRoundTrip() {
    worker.write(GlobalAddress.of(0, 128), put(1), 8);
    worker.write(GlobalAddress.of(1, 128), put(2), 8);
    VerbCounters before = worker.counters().copy();
    worker.scatter(
        new VerbList()
            .read(GlobalAddress.of(0, 128), LOCAL, 8)
            .read(GlobalAddress.of(1, 128), LOCAL + 8, 8));
    assertThat(get(LOCAL)).isEqualTo(1);
    assertThat(get(LOCAL + 8)).isEqualTo(2);
    worker.scatter(new VerbList());
    VerbCounters after = worker.counters().copy();
    after.subtract(before);
    assertThat(after.roundTrips).isEqualTo(1);
    assertThat(after.reads).isEqualTo(2);
  }

  @Test
  public void shouldCountExactly() {
    worker.read(NODE, LOCAL, 1024);
    worker.write(NODE, LOCAL, 100);
    worker.cas(NODE, 0, 0);
    worker.faa(NODE, 0);
    worker.maskedCas(NODE, 0, 0, 0, 0);
    worker.maskedFaa(NODE, 0, 0);
    int wide = cas16() ? 1 : 0;
    if (cas16()) {
      worker.maskedCas16(NODE, LOCAL);
    }
    worker.call(1, TestHandlers.INCREMENT, LOCAL, 33);
    assertThat(worker.counters().toString())
        .isEqualTo(
            "reads=1, writes=1, atomics="
                + (4 + wide)
                + ", calls=1, roundTrips="
                + (7 + wide)
                + ", bytesIn="
                + (1024 + 8 + 8 + 8 + 8 + 16 * wide + 33)
                + ", bytesOut="
                + (100 + 16 + 8 + 32 + 16 + 64 * wide + 33));
  }

  @Test
  public void shouldViewWhatAReadWouldCopyWhereMemoryIsMapped() {
    PoolView view = new PoolView();
    boolean isMapped = fabric.tripNanos() == 0;
    VerbCounters counters = worker.counters();
    long reads = counters.reads;
    long bytes = counters.bytesIn;
    for (long offset : new long[] {0, 8, 24, 200}) {
      worker.faa(NODE + offset, 1 + offset);
      long trips = counters.roundTrips;
      assertThat(worker.view(NODE + offset, 16, view)).isEqualTo(isMapped);
      assertThat(counters.roundTrips).isEqualTo(trips);
      if (isMapped) {
        assertThat(Words.get(view.memory(), view.at())).isEqualTo(1 + offset);
      }
    }
    assertThat(counters.reads - reads).isEqualTo(isMapped ? 4 : 0);
    assertThat(counters.bytesIn - bytes).isEqualTo(4 * 8 + (isMapped ? 4 * 16 : 0));
  }

  @Test
  public void shouldMeasureATripOnce() {
    long nanos = fabric.tripNanos();
    assertThat(nanos).isNotNegative();
    assertThat(fabric.tripNanos()).isEqualTo(nanos);
  }

  @Test
  public void shouldRefuseBytesOutsideTheMemoryServer() {
    long chip = 256 << 10;
    long[] outside = {
      GlobalAddress.of(0, DRAM_BYTES - 7),
      GlobalAddress.of(0, DRAM_BYTES),
      GlobalAddress.of(0, (1L << 47) - 8),
      GlobalAddress.of(2, 0),
      GlobalAddress.of(GlobalAddress.SERVERS_MAX - 1, 0),
      GlobalAddress.onChip(0, chip - 7),
      GlobalAddress.onChip(0, chip),
      GlobalAddress.onChip(1, (1L << 47) - 1),
      GlobalAddress.of(0, 64) | GlobalAddress.SWIZZLED,
      -1
    };
    for (long address : outside) {
      assertThatThrownBy(() -> worker.read(address, LOCAL, 8))
          .isInstanceOf(InvalidAddressException.class)
          .hasMessageContaining(GlobalAddress.toString(address));
      assertThatThrownBy(() -> worker.write(address, LOCAL, 8))
          .isInstanceOf(InvalidAddressException.class);
      if (fabric.tripNanos() == 0) {
        assertThatThrownBy(() -> worker.view(address, 8, new PoolView()))
            .isInstanceOf(InvalidAddressException.class);
      }
    }
    assertThatThrownBy(() -> worker.cas(GlobalAddress.of(0, DRAM_BYTES), 0, 0))
        .isInstanceOf(InvalidAddressException.class);
    assertThatThrownBy(() -> worker.read(NODE, LOCAL, -1))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("bytes=-1");
    assertThatThrownBy(() -> worker.read(NODE, LOCAL, Integer.MAX_VALUE))
        .isInstanceOf(InvalidAddressException.class)
        .hasMessageContaining("bytes=" + Integer.MAX_VALUE);
    worker.read(GlobalAddress.of(0, DRAM_BYTES - 8), LOCAL, 8);
    worker.read(GlobalAddress.onChip(0, chip - 8), LOCAL, 8);
    assertThat(worker.counters().reads).isEqualTo(2);
  }

  @Test
  public void shouldRefuseBytesOutsideTheRegisteredMemory() {
    long[] outside = {-1, MEMORY_BYTES - 7, MEMORY_BYTES, Long.MAX_VALUE, Long.MIN_VALUE};
    for (long local : outside) {
      for (int bytes : new int[] {8, 1024}) {
        assertThatThrownBy(() -> worker.read(NODE, local, bytes))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> worker.write(NODE, local, bytes))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThatThrownBy(() -> worker.post(new VerbList().faa(NODE, 1, local)))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> worker.call(0, TestHandlers.INCREMENT, local, 8))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThat(read(NODE)).isZero();
  }

  @Test
  public void shouldRefuseMisalignedAtomics() {
    assertThatThrownBy(() -> worker.cas(NODE + 4, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(GlobalAddress.toString(NODE + 4));
    assertThatThrownBy(() -> worker.faa(NODE + 1, 0)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  public void shouldServeCalls() {
    Words.set(memory.segment(), LOCAL, 0x0102_0304L);
    assertThat(worker.call(0, TestHandlers.INCREMENT, LOCAL, 4)).isEqualTo(4);
    assertThat(get(LOCAL)).isEqualTo(0x0203_0405L);
    assertThat(worker.call(0, TestHandlers.INCREMENT, LOCAL, Worker.CALL_BYTES_MAX))
        .isEqualTo(Worker.CALL_BYTES_MAX);
    assertThat(worker.call(1, TestHandlers.INCREMENT, LOCAL, 0)).isZero();
  }

  @Test
  public void shouldGoOnAfterCallsThatFail() {
    assertThatThrownBy(() -> worker.call(1, TestHandlers.THROW, LOCAL, 8))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("server=1, function=17")
        .hasMessageContaining("java.lang.IllegalCallerException")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> worker.call(1, TestHandlers.OVERFLOW, LOCAL, 8))
        .hasMessageContaining("StackOverflowError");
    assertThatThrownBy(() -> worker.call(1, TestHandlers.OVERSIZED, LOCAL, 8))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("4033");
    assertThatThrownBy(() -> worker.call(1, TestHandlers.UNKNOWN, LOCAL, 8))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("unknown function");
    assertThatThrownBy(() -> worker.call(1, 9, LOCAL, 8))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("unknown function");
    assertThat(worker.call(1, TestHandlers.INCREMENT, LOCAL, 8)).isEqualTo(8);
  }

  @Test
  public void shouldRefuseCallsThatMakeNoSense() {
    assertThatThrownBy(() -> worker.call(2, 16, LOCAL, 8)).hasMessageContaining("server=2");
    assertThatThrownBy(() -> worker.call(-1, 16, LOCAL, 8)).hasMessageContaining("server=-1");
    assertThatThrownBy(() -> worker.call(0, 256, LOCAL, 8)).hasMessageContaining("function=256");
    assertThatThrownBy(() -> worker.call(0, 16, LOCAL, 4033)).hasMessageContaining("4033");
    assertThatThrownBy(() -> worker.call(0, 16, LOCAL, -1)).hasMessageContaining("=-1");
    assertThat(worker.counters().calls).isZero();
  }

  @Test
  public void shouldServeCallsOfManyWorkersAtOnce() throws Exception {
    long calls = Math.max(100, tries(500));
    race(
        6,
        (own, number) -> {
          for (long i = 0; i < calls; i++) {
            int server = (int) (i % SERVERS);
            Words.set(own.memory(), 0, 1 + number);
            Words.set(own.memory(), 8, 64);
            assertThat(own.call(server, TestHandlers.ADD, 0, 16)).isEqualTo(16);
            assertThat(Words.get(own.memory(), 8)).isEqualTo(server);
          }
        });
    long perServer = calls / SERVERS * (1 + 2 + 3 + 4 + 5 + 6);
    assertThat(read(GlobalAddress.of(0, 64))).isEqualTo(perServer);
    assertThat(read(GlobalAddress.of(1, 64))).isEqualTo(perServer);
  }

  @Test
  public void shouldRefuseHostileMessagesAboutSpace() {
    List<PoolUsage> before = fabric.usage();
    long[][] allocations = {{}, {1024}, {0, 0}, {-1, 0}, {100, 0}, {1L << 40, 0}, {1024, 0, 1}};
    for (long[] fields : allocations) {
      assertRefused(SpaceMessage.ALLOCATE, fields);
    }
    long[][] releases = {
      {},
      {1024},
      {1024, 1},
      {1024, 0},
      {1024, -1},
      {1024, Long.MAX_VALUE},
      {1024, 1L << 32, 0},
      {1024, 2, 16 << 10},
      {1024, 1, 0},
      {1024, 1, 16 << 10},
      {1024, 1, -16384},
      {0, 1, 16 << 10},
    };
    for (long[] fields : releases) {
      assertRefused(SpaceMessage.RELEASE, fields);
      assertRefused(SpaceMessage.RELEASE_RUN, fields);
    }
    assertRefused(SpaceMessage.USAGE, 1);
    assertThat(fabric.usage()).isEqualTo(before);
  }

  @Test
  public void shouldAskOneMemoryServerForItsUse() {
    for (int server = 0; server < SERVERS; server++) {
      assertThat(fabric.usage(server)).isEqualTo(fabric.usage().get(server));
    }
    for (int none : new int[] {-1, SERVERS}) {
      assertThatThrownBy(() -> fabric.usage(none))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("server=" + none);
    }
  }

  @Tag("campaign")
  @Test
  public void shouldServeMoreWorkersThanAMailboxHasSlots() {
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < manyWorkers(); i++) {
      Worker other = fabric.worker(memory);
      workers.add(other);
      assertThat(other.call(0, TestHandlers.INCREMENT, LOCAL, 1)).isEqualTo(1);
    }
    for (Worker other : workers) {
      assertThat(other.call(0, TestHandlers.INCREMENT, LOCAL, 1)).isEqualTo(1);
      other.close();
    }
  }

  @Test
  public void shouldOpenWorkersOnMemoryThatItHasRegisteredAlone() {
    RegisteredMemory foreign =
        new RegisteredMemory() {
          @Override
          public MemorySegment segment() {
            return memory.segment();
          }

          @Override
          public void close() {}
        };
    assertThatThrownBy(() -> fabric.worker(foreign)).isInstanceOf(IllegalArgumentException.class);
    PoolOptions small = PoolOptions.defaults().withMemoryServers(1).withBytesPerServer(POOL_BYTES);
    try (Fabric other = LocalFabric.open(small.withChunkBytes(CHUNK_BYTES));
        RegisteredMemory others = other.register(64)) {
      assertThatThrownBy(() -> fabric.worker(others))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not registered");
      assertThatThrownBy(() -> other.worker(memory)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  public void shouldGiveEachWorkerItsOwnRandomnessFromTheSeed() {
    long[] drawn = IntStream.range(0, 10).mapToLong(i -> draw()).distinct().toArray();
    assertThat(drawn).hasSize(10);
  }

  @Test
  public void shouldRefuseVerbsAfterTheWorkerIsClosed() {
    worker.read(NODE, LOCAL, 8);
    worker.close();
    assertThatThrownBy(() -> worker.read(NODE, LOCAL, 8)).isInstanceOf(IllegalStateException.class);
    if (fabric.tripNanos() == 0) {
      assertThatThrownBy(() -> worker.view(NODE, 8, new PoolView()))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThatThrownBy(() -> worker.call(0, 16, LOCAL, 8))
        .isInstanceOf(IllegalStateException.class);
    assertThat(worker.counters().reads).isEqualTo(1);
  }

  @Test
  public void shouldRefuseVerbsAfterTheFabricIsClosed() {
    close(fabric);
    close(fabric);
    List<Runnable> verbs =
        List.of(
            () -> worker.read(NODE, LOCAL, 1024),
            () -> worker.read(NODE, LOCAL, 8),
            () -> worker.write(NODE, LOCAL, 1024),
            () -> worker.cas(NODE, 0, 0),
            () -> worker.maskedFaa(NODE, 0, 0),
            () -> widest(worker),
            () -> worker.call(0, TestHandlers.INCREMENT, LOCAL, 8),
            () -> fabric.worker(memory).close());
    for (Runnable verb : verbs) {
      assertThatThrownBy(verb::run).isInstanceOf(IllegalStateException.class);
    }
    worker.close();
  }

  @Test
  public void shouldEndWorkersInTheMiddleOfVerbsWhenTheFabricCloses() throws Exception {
    try (ExecutorService threads = threads(fabric)) {
      CyclicBarrier started = new CyclicBarrier(4);
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int number = i;
        Worker own = worker(fabric, fabric.register(MEMORY_BYTES));
        running.add(
            threads.submit(() -> {
              started.await();
              while (true) {
                switch (number) {
                  case 0 -> own.read(NODE, LOCAL, 1024);
                  case 1 -> widest(own);
                  default -> own.call(0, TestHandlers.INCREMENT, LOCAL, 8);
                }
              }
            }));
      }
      started.await();
      close(fabric);
      for (Future<?> end : running) {
        assertThatThrownBy(() -> end.get(30, TimeUnit.SECONDS))
            .hasCauseInstanceOf(IllegalStateException.class);
      }
    }
  }

  @Test
  public void shouldSayThatItCannotFence() {
    assumeFalse(fences());
    assertThatThrownBy(() -> fabric.fence(3, 7)).isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  public void shouldRefuseFencesThatMakeNoSense() {
    assumeTrue(fences());
    for (int none : new int[] {-1, 1024, Integer.MIN_VALUE}) {
      assertThatThrownBy(() -> fabric.fence(none, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("computeServer=" + none);
      assertThatThrownBy(() -> new ComputeServer(none, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
    for (long none : new long[] {0, -1, Long.MIN_VALUE}) {
      assertThatThrownBy(() -> fabric.fence(3, none))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("leastEpoch=" + none);
      assertThatThrownBy(() -> new ComputeServer(3, none))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  public void shouldRefuseEveryVerbOfAFencedComputeServer() throws Exception {
    assumeTrue(fences());
    try (Fabric fenced = openAs(new ComputeServer(3, 7));
        RegisteredMemory own = fenced.register(MEMORY_BYTES)) {
      Worker late = worker(fenced, own);
      Worker unused = worker(fenced, own);
      late.faa(NODE, 5);
      assertThat(late.call(0, TestHandlers.INCREMENT, LOCAL, 8)).isEqualTo(8);
      fabric.fence(3, 7);
      late.faa(NODE, 6);
      assertThat(late.view(NODE, 8, new PoolView())).isFalse();
      fabric.fence(3, 8);
      assertFenced(late);
      assertFenced(unused);
      assertThat(read(NODE)).isEqualTo(11);
      assertThatThrownBy(() -> openAs(new ComputeServer(3, 6)).close())
          .isInstanceOf(FencedException.class);
      late.close();
      unused.close();
    }
  }

  private void assertFenced(Worker late) {
    VerbList list = new VerbList().read(NODE, LOCAL, 8).write(NODE, LOCAL, 8);
    VerbList scattered = new VerbList().write(0, LOCAL, 8).faa(NODE, 1, LOCAL);
    List<Runnable> verbs =
        List.of(
            () -> late.read(NODE, LOCAL, 1024),
            () -> late.write(NODE, LOCAL, 8),
            () -> late.cas(NODE, 11, 0),
            () -> late.faa(NODE, 1),
            () -> late.maskedCas(NODE, 0, 0, -1, -1),
            () -> late.maskedFaa(NODE, 1, 0),
            () -> widest(late),
            () -> late.post(list),
            () -> late.scatter(scattered),
            () -> late.call(1, TestHandlers.ADD, LOCAL, 16));
    for (Runnable verb : verbs) {
      assertThatThrownBy(verb::run).isInstanceOf(FencedException.class);
    }
    for (VerbList failed : List.of(list, scattered)) {
      assertThat(failed.outcome(0)).isEqualTo(VerbList.Outcome.NOT_DONE);
      assertThat(failed.outcome(1)).isEqualTo(VerbList.Outcome.NOT_DONE);
    }
  }

  @Test
  public void shouldFenceNoOtherComputeServer() throws Exception {
    assumeTrue(fences());
    try (Fabric next = openAs(new ComputeServer(3, 8));
        Fabric last = openAs(new ComputeServer(3, ComputeServer.EPOCH_MAX));
        Fabric other = openAs(new ComputeServer(4, 1));
        RegisteredMemory nexts = next.register(64);
        RegisteredMemory lasts = last.register(64);
        RegisteredMemory others = other.register(64)) {
      Worker ofNext = worker(next, nexts);
      Worker ofLast = worker(last, lasts);
      Worker ofOther = worker(other, others);
      fabric.fence(3, 8);
      fabric.fence(3, 2);
      assertThat(ofNext.faa(NODE, 1)).isZero();
      other.fence(3, 9);
      assertThatThrownBy(() -> ofNext.read(NODE, 0, 8)).isInstanceOf(FencedException.class);
      assertThatThrownBy(() -> ofNext.faa(NODE, 1)).isInstanceOf(FencedException.class);
      assertThat(ofOther.faa(NODE, 1)).isEqualTo(1);
      fabric.fence(3, ComputeServer.EPOCH_MAX);
      assertThat(ofLast.faa(NODE, 1)).isEqualTo(2);
      assertThat(worker.faa(NODE, 1)).isEqualTo(3);
      ofNext.close();
      ofLast.close();
      ofOther.close();
    }
  }

  @Test
  public void shouldWaitForCallsThatAreServed() throws Exception {
    assumeTrue(fences());
    try (Fabric fenced = openAs(new ComputeServer(3, 7));
        RegisteredMemory own = fenced.register(MEMORY_BYTES);
        ExecutorService threads = threads(fenced);
        ExecutorService fencing = Executors.newCachedThreadPool()) {
      Future<?> call =
          threads.submit(() -> {
            try (Worker caller = fenced.worker(own)) {
              Words.set(own.segment(), LOCAL, GlobalAddress.offset(NODE));
              caller.call(1, TestHandlers.WAIT, LOCAL, 8);
            }
          });
      while (read(NODE + 8) == 0) {
        worker.backoff().pause(100);
      }
      Future<?> fence = fencing.submit(() -> fabric.fence(3, 8));
      assertThatThrownBy(() -> fence.get(100, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      worker.write(NODE, put(1), 8);
      fence.get(30, TimeUnit.SECONDS);
      assertEndsAnsweredOrUnknown(call);
    }
  }

  private static void assertEndsAnsweredOrUnknown(Future<?> call) throws Exception {
    try {
      call.get(30, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      assertThat(e).hasCauseInstanceOf(UnknownOutcomeException.class);
    }
  }

  /** Writers store greater and greater stamps, two at once, until they are fenced. */
  @Test
  public void shouldLetNothingTakeEffectBehindAFence() throws Exception {
    assumeTrue(fences());
    long[] nanos = new long[FENCES];
    for (int i = 0; i < FENCES; i++) {
      nanos[i] = fenceWriters(new ComputeServer(5, i + 1));
    }
    Arrays.sort(nanos);
    System.out.printf(
        "fences=%d, medianMicros=%d, maxMicros=%d%n",
        FENCES,
        TimeUnit.NANOSECONDS.toMicros(nanos[FENCES / 2]),
        TimeUnit.NANOSECONDS.toMicros(nanos[FENCES - 1]));
  }

  private long fenceWriters(ComputeServer name) throws Exception {
    try (Fabric fenced = openAs(name);
        ExecutorService threads = threads(fenced);
        Signal over = new Signal()) {
      AtomicLongArray stored = new AtomicLongArray(WRITERS);
      List<Future<?>> writers = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        int number = i;
        writers.add(threads.submit(() -> writeUntilFenced(fenced, number, stored, over)));
      }
      for (int i = 0; i < WRITERS; i++) {
        while (stored.get(i) < 10) {
          assertThat(writers.get(i).state()).isEqualTo(Future.State.RUNNING);
          worker.backoff().pause(100);
        }
      }
      long start = System.nanoTime();
      fabric.fence(name.number(), name.epoch() + 1);
      long nanos = System.nanoTime() - start;
      long[] behind = stamps();
      for (Future<?> writer : writers) {
        writer.get(30, TimeUnit.SECONDS);
      }
      assertThat(stamps()).isEqualTo(behind);
      for (int i = 0; i < WRITERS; i++) {
        assertThat(stored.get(i)).isBetween(10L, behind[2 * i]);
        long least = endsLists() ? behind[2 * i] - 1 : behind[2 * i];
        assertThat(behind[2 * i + 1]).isBetween(least, behind[2 * i]);
      }
      return nanos;
    }
  }

  /** Returns what the writers have stored. */
  private long[] stamps() {
    return LongStream.range(0, 2 * WRITERS)
        .map(i -> read(GlobalAddress.of((int) (i / 2 % SERVERS), 8 * i)))
        .toArray();
  }

  /** Is on once it is closed. */
  private static final class Signal implements AutoCloseable {
    private volatile boolean isOn;

    @Override
    public void close() {
      isOn = true;
    }
  }

  private void writeUntilFenced(Fabric fenced, int number, AtomicLongArray stored, Signal over) {
    long target = GlobalAddress.of(number % SERVERS, 16L * number);
    VerbList list = new VerbList();
    try (RegisteredMemory own = fenced.register(64);
        Worker writer = fenced.worker(own)) {
      for (long stamp = 1; !over.isOn; stamp++) {
        Words.set(own.segment(), 0, stamp);
        writer.post(list.clear().write(target, 0, 8).write(target + 8, 0, 8));
        stored.set(number, stamp);
      }
    } catch (UnknownOutcomeException | FencedException e) {
      // The next verb is refused.
    }
    try (RegisteredMemory own = fenced.register(64);
        Worker writer = fenced.worker(own)) {
      assertThatThrownBy(() -> writer.write(target, 0, 8)).isInstanceOf(FencedException.class);
    }
  }

  private void assertRefused(int function, long... fields) {
    for (int i = 0; i < fields.length; i++) {
      set(LOCAL + 8L * i, fields[i]);
    }
    assertThatThrownBy(() -> worker.call(0, function, LOCAL, 8 * fields.length))
        .as("function %d, fields %s", function, Arrays.toString(fields))
        .isInstanceOf(CallFailedException.class);
  }

  /** Runs the widest atomic that there is. */
  private void widest(Worker own) {
    if (cas16()) {
      own.maskedCas16(NODE, LOCAL);
    } else {
      own.maskedCas(NODE, 0, 0, -1, -1);
    }
  }

  private void addToBothHalves(Worker own, long additions) {
    long[] seen = {0, 0};
    long done = 0;
    while (done < additions) {
      setOperands(own, 0, new long[] {seen[0], seen[1], -1, -1, seen[0] + 1, seen[1] + 1, -1, -1});
      if (own.maskedCas16(NODE, 0)) {
        done++;
      }
      seen[0] = Words.get(own.memory(), 64);
      seen[1] = Words.get(own.memory(), 72);
      assertThat(seen[0]).isEqualTo(seen[1]);
    }
  }

  private interface Racer {
    void run(Worker own, int number) throws Exception;
  }

  private void race(int racers, Racer racer) throws Exception {
    try (ExecutorService threads = threads(fabric)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < racers; i++) {
        int number = i;
        tasks.add(() -> {
          try (RegisteredMemory ownMemory = fabric.register(MEMORY_BYTES);
              Worker own = fabric.worker(ownMemory)) {
            racer.run(own, number);
          }
          return null;
        });
      }
      for (Future<Void> end : threads.invokeAll(tasks)) {
        end.get();
      }
    }
  }

  /** Starts both racers of a round as nearly together as can be. */
  @SuppressWarnings("ThreadPriorityCheck") // The other may not be running at all.
  private static void meet(AtomicIntegerArray arrived, int mine, int other, int round) {
    arrived.set(mine, round);
    for (int spins = 0; arrived.get(other) < round; spins++) {
      if (spins < 1_000) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  private long draw() {
    try (Worker other = fabric.worker(memory)) {
      return other.random().nextLong();
    }
  }

  private static long addFields(long before, long addend, long boundaries) {
    long sum = 0;
    int carry = 0;
    for (int bit = 0; bit < 64; bit++) {
      long total = (before >>> bit & 1) + (addend >>> bit & 1) + carry;
      sum |= (total & 1) << bit;
      carry = (boundaries >>> bit & 1) != 0 ? 0 : (int) (total >>> 1);
    }
    return sum;
  }

  private void setOperands(long[] operands) {
    setOperands(LOCAL, operands);
  }

  private void setOperands(long offset, long[] operands) {
    setOperands(worker, offset, operands);
  }

  private static void setOperands(Worker own, long offset, long[] operands) {
    for (int i = 0; i < operands.length; i++) {
      Words.set(own.memory(), offset + 8L * i, operands[i]);
    }
  }

  private long put(long value) {
    set(LOCAL, value);
    return LOCAL;
  }

  private long read(long remote) {
    worker.read(remote, LOCAL + 512, 8);
    return get(LOCAL + 512);
  }

  private void set(long offset, long value) {
    Words.set(memory.segment(), offset, value);
  }

  private long get(long offset) {
    return Words.get(memory.segment(), offset);
  }
}
