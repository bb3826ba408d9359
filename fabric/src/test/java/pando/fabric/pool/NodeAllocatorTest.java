package pando.fabric.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;

class NodeAllocatorTest {
  private static final long SEED = 0x5EED_0006L;
  private static final int SERVERS = 2;
  private static final int CHUNK_BYTES = 64 << 10;

  /** Parts that a chunk of this size has. */
  private static final int PARTS = CHUNK_BYTES / 4096;

  private static final int CHUNKS = 64;
  private static final int NODE_BYTES = 1024;
  private static final int NODES = CHUNKS * CHUNK_BYTES / NODE_BYTES;

  private Fabric fabric;
  private RegisteredMemory memory;
  private Worker worker;
  private NodeAllocator allocator;

  @BeforeEach
  void open() {
    System.out.println("seed=" + SEED);
    fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(SERVERS)
                .withChunkBytes(CHUNK_BYTES)
                .withBytesPerServer((long) CHUNKS * CHUNK_BYTES));
    memory = fabric.register(Worker.CALL_BYTES_MAX);
    worker = fabric.worker(memory);
    allocator = new NodeAllocator(SERVERS, NODE_BYTES);
  }

  @AfterEach
  void close() {
    fabric.close();
    memory.close();
  }

  @Test
  void shouldTakePartsOfAChunkWhileLessThanOneIsInUse() {
    Set<Long> nodes = new HashSet<>();
    for (int i = 0; i < CHUNK_BYTES / NODE_BYTES; i++) {
      long node = allocator.allocate(worker, 0, 1);
      assertThat(GlobalAddress.server(node)).isEqualTo(1);
      assertThat(nodes.add(node)).isTrue();
    }
    assertThat(worker.counters().calls).isEqualTo(PARTS);
    assertThat(allocator.nodesInUse()).isEqualTo(nodes.size());
    for (int i = 0; i < CHUNK_BYTES / NODE_BYTES; i++) {
      assertThat(nodes.add(allocator.allocate(worker, 0, 1))).isTrue();
    }
    assertThat(worker.counters().calls).isEqualTo(PARTS + 1);
  }

  @Test
  void shouldUseTheNodeFreedLastFirst() {
    long first = allocator.allocate(worker, 0, 0);
    long second = allocator.allocate(worker, 0, 0);
    allocator.free(worker, 0, first);
    allocator.free(worker, 0, second);
    assertThat(allocator.nodesInUse()).isZero();
    assertThat(allocator.allocate(worker, 0, 0)).isEqualTo(second);
    assertThat(allocator.allocate(worker, 0, 0)).isEqualTo(first);
    assertThat(worker.counters().calls).isEqualTo(1);
  }

  @Test
  void shouldGiveAllBackOnTrim() {
    List<Long> nodes = allocate(200, 0);
    nodes.forEach(node -> allocator.free(worker, 0, node));
    allocator.trim(worker, 0);
    assertThat(fabric.usage()).allMatch(usage -> usage.reservedBytes() == 0);
    allocator.trim(worker, 0);
    assertThat(allocator.allocate(worker, 0, 0)).isPositive();
  }

  @Test
  void shouldReturnBatchesWhenManyNodesWait() {
    List<Long> nodes = allocate(NODES, 0);
    nodes.forEach(node -> allocator.free(worker, 0, node));
    PoolUsage usage = fabric.usage().getFirst();
    assertThat(usage.usedBytes())
        .isLessThanOrEqualTo((long) NodeAllocator.FREE_NODES_MAX * NODE_BYTES);
  }

  @Test
  void shouldReturnLargeNodesWhenTheirBytesAreMany() {
    int nodeBytes = 128 << 10;
    PoolOptions options =
        PoolOptions.defaults().withChunkBytes(nodeBytes).withBytesPerServer(200L * nodeBytes);
    try (Fabric pool = LocalFabric.open(options);
        RegisteredMemory message = pool.register(Worker.CALL_BYTES_MAX);
        Worker caller = pool.worker(message)) {
      NodeAllocator large = new NodeAllocator(1, nodeBytes);
      List<Long> nodes = new ArrayList<>();
      for (int i = 0; i < 199; i++) {
        nodes.add(large.allocate(caller, 0, 0));
      }
      nodes.forEach(node -> large.free(caller, 0, node));
      assertThat(pool.usage().getFirst().usedBytes())
          .isBetween(1L, (long) NodeAllocator.FREE_BYTES_MAX);
    }
  }

  @Test
  void shouldBringNodesBackIntoUseAcrossComputeServers() {
    List<Long> nodes = allocate(NODES, 0);
    NodeAllocator other = new NodeAllocator(SERVERS, NODE_BYTES);
    List<Long> freed = nodes.subList(0, 30);
    freed.forEach(node -> other.free(worker, 0, node));
    assertThat(other.nodesInUse()).isEqualTo(-30);
    other.trim(worker, 0);
    Set<Long> again = new HashSet<>();
    for (int i = 0; i < 30; i++) {
      again.add(allocator.allocate(worker, 0, 0));
    }
    assertThat(again).containsExactlyInAnyOrderElementsOf(freed);
  }

  @Test
  void shouldGiveFreedChunksToOtherNodeSizes() {
    List<Long> nodes = allocate(SERVERS * NODES, 0);
    NodeAllocator large = new NodeAllocator(SERVERS, CHUNK_BYTES);
    assertThatThrownBy(() -> large.allocate(worker, 0, 0)).isInstanceOf(PoolFullException.class);
    nodes.forEach(node -> allocator.free(worker, 0, node));
    allocator.trim(worker, 0);
    for (int i = 0; i < SERVERS * CHUNKS; i++) {
      large.allocate(worker, 0, 0);
    }
    assertThat(fabric.usage()).allMatch(usage -> usage.usedBytes() == usage.capacityBytes());
  }

  @Test
  void shouldFallBackToOtherMemoryServersAndTellWhenAllAreFull() {
    List<Long> nodes = allocate(SERVERS * NODES, 1);
    assertThat(nodes.subList(0, NODES)).allMatch(node -> GlobalAddress.server(node) == 1);
    assertThat(nodes.subList(NODES, 2 * NODES)).allMatch(node -> GlobalAddress.server(node) == 0);
    assertThat(new HashSet<>(nodes)).hasSize(SERVERS * NODES);
    long capacity = (long) SERVERS * CHUNKS * CHUNK_BYTES;
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> allocator.allocate(worker, 0, 1))
          .isInstanceOf(PoolFullException.class)
          .hasMessageContaining("capacityBytes=" + capacity)
          .hasMessageContaining("usedBytes=" + capacity);
    }
    assertThat(allocator.nodesInUse()).isEqualTo(SERVERS * NODES);
    allocator.free(worker, 0, nodes.get(17));
    assertThat(allocator.allocate(worker, 0, 0)).isEqualTo(nodes.get(17));
  }

  @Test
  void shouldRecoverWhenAnotherComputeServerFrees() {
    List<Long> nodes = allocate(SERVERS * NODES, 1);
    assertThatThrownBy(() -> allocator.allocate(worker, 0, 1))
        .isInstanceOf(PoolFullException.class);
    NodeAllocator other = new NodeAllocator(SERVERS, NODE_BYTES);
    other.free(worker, 0, nodes.get(5));
    other.trim(worker, 0);
    assertThat(allocator.allocate(worker, 0, 0)).isEqualTo(nodes.get(5));
  }

  @Test
  void shouldRefuseWhatIsNoNode() {
    long[] addresses = {
      GlobalAddress.NULL, GlobalAddress.of(2, 1024), GlobalAddress.onChip(0, 1024), -1
    };
    for (long address : addresses) {
      assertThatThrownBy(() -> allocator.free(worker, 0, address))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> allocator.allocate(worker, 0, 2)).hasMessageContaining("server=2");
    assertThatThrownBy(() -> new NodeAllocator(1, 100)).hasMessageContaining("nodeBytes=100");
    assertThatThrownBy(() -> new NodeAllocator(1, 32)).hasMessageContaining("nodeBytes=32");
    assertThatThrownBy(() -> new NodeAllocator(0, 128)).hasMessageContaining("memoryServers=0");
    assertThatThrownBy(() -> new NodeAllocator(SERVERS, 2 * CHUNK_BYTES).allocate(worker, 0, 0))
        .isInstanceOf(CallFailedException.class)
        .hasMessageContaining("nodeBytes=" + 2 * CHUNK_BYTES);
  }

  @Test
  void shouldHandOutEachNodeOnceAmongManyWorkers() throws Exception {
    Set<Long> inUse = ConcurrentHashMap.newKeySet();
    int threads = 4;
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int number = i;
        tasks.add(() -> allocateAndFree(inUse, number));
      }
      for (Future<Void> end : pool.invokeAll(tasks)) {
        end.get();
      }
    }
    assertThat(inUse).isEmpty();
    assertThat(allocator.nodesInUse()).isZero();
    allocator.trim(worker, 0);
    assertThat(fabric.usage()).allMatch(usage -> usage.reservedBytes() == 0);
  }

  private Void allocateAndFree(Set<Long> inUse, int number) {
    Random random = new Random(SEED + number);
    List<Long> mine = new ArrayList<>();
    try (RegisteredMemory ownMemory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker own = fabric.worker(ownMemory)) {
      for (int step = 0; step < 40_000; step++) {
        boolean grow = step / 5_000 % 2 == 0;
        if (mine.isEmpty() || (mine.size() < 1_500 && random.nextInt(10) < (grow ? 7 : 3))) {
          long node = allocator.allocate(own, 0, random.nextInt(SERVERS));
          assertThat(inUse.add(node)).isTrue();
          mine.add(node);
        } else {
          Collections.swap(mine, random.nextInt(mine.size()), mine.size() - 1);
          long node = mine.removeLast();
          assertThat(inUse.remove(node)).isTrue();
          allocator.free(own, 0, node);
        }
      }
      for (long node : mine) {
        assertThat(inUse.remove(node)).isTrue();
        allocator.free(own, 0, node);
      }
    }
    return null;
  }

  private List<Long> allocate(int count, int server) {
    List<Long> nodes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      nodes.add(allocator.allocate(worker, 0, server));
    }
    return nodes;
  }

  /** Returns the bytes of a memory server's DRAM that are accounted for. */
  private static long sum(ServerSpace space) {
    return space.catalogueBytes()
        + space.padBytes()
        + space.freeChunkBytes()
        + space.freePartBytes()
        + space.sizes().stream().mapToLong(ServerSpace.SizeSpace::bytes).sum();
  }

  @Test
  void shouldTellWhereEachByteIsWithMoreSizesThanAMessageHasRoomFor() {
    PoolOptions options =
        PoolOptions.defaults()
            .withMemoryServers(1)
            .withChunkBytes(CHUNK_BYTES)
            .withBytesPerServer(4L * CHUNKS * CHUNK_BYTES);
    List<NodeAllocator> allocators = new ArrayList<>();
    try (Fabric wide = LocalFabric.open(options);
        RegisteredMemory own = wide.register(Worker.CALL_BYTES_MAX);
        Worker asking = wide.worker(own)) {
      for (int nodeBytes = 64; nodeBytes <= 200 * 64; nodeBytes += 64) {
        NodeAllocator each = new NodeAllocator(1, nodeBytes);
        allocators.add(each);
        each.allocate(asking, 0, 0);
        each.free(asking, 0, each.allocate(asking, 0, 0));
      }
      long[] here = {0};
      allocators.forEach(
          each -> here[0] += each.nodesInUse() + each.freedNodes() + each.newNodes());
      assertThat(nodesOut(wide, asking)).isEqualTo(here[0]);
      allocators.forEach(each -> each.trim(asking, 0));
      assertThat(nodesOut(wide, asking)).isEqualTo(allocators.size());
    }
  }

  /** Checks that all bytes are accounted for; returns the number of nodes that are not returned. */
  private static long nodesOut(Fabric fabric, Worker worker) {
    ServerSpace space = ServerSpace.of(fabric, 0, worker, 0);
    assertThat(sum(space)).isEqualTo(fabric.dramBytes(0));
    return space.sizes().stream().mapToLong(ServerSpace.SizeSpace::nodes).sum();
  }
}
