package pando.fabric.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.PoolUsage;
import pando.fabric.layout.ServerLayout;
import pando.fabric.layout.SpaceMessage;

class ChunkTableTest {
  private static final int CHUNK_BYTES = 8192;
  private static final int CHUNKS = 12;
  private static final long FIRST = ServerLayout.CHUNKS_OFFSET;
  private static final int[] NODE_BYTES = {1024, 1088, 256, 8192};

  private final ServerLayout layout = new ServerLayout((long) CHUNKS * CHUNK_BYTES, CHUNK_BYTES);
  private final MemorySegment memory = MemorySegment.ofArray(new byte[(int) layout.dramBytes()]);
  private ChunkTable table = new ChunkTable(layout, memory, () -> Long.MAX_VALUE);

  @ParameterizedTest
  @ValueSource(longs = {0x5EED_0002L, 0x5EED_0003L, 0x5EED_0004L})
  void shouldAgreeWithAPlainModel(long seed) {
    System.out.println("seed=" + seed);
    SplittableRandom random = new SplittableRandom(seed);
    Model model = new Model();
    for (int step = 0; step < 20_000; step++) {
      int nodeBytes = NODE_BYTES[random.nextInt(NODE_BYTES.length)];
      // Tides, so that the pool gets full and empty again.
      if (random.nextInt(100) < (step / 2_000 % 2 == 0 ? 60 : 40)) {
        allocate(model, nodeBytes, random);
      } else {
        release(model, nodeBytes, random);
      }
      assertThat(table.usage()).isEqualTo(model.usage());
      if (step % 500 == 0) {
        ChunkTable original = table;
        table = original.copy(memory);
        original.takeChunk(NODE_BYTES[0]);
      }
    }
    for (int nodeBytes : NODE_BYTES) {
      model.takeAll(nodeBytes).forEach(offset -> release(nodeBytes, offset));
    }
    assertThat(table.usage()).isEqualTo(new PoolUsage((long) CHUNKS * CHUNK_BYTES, 0, 0));
  }

  @Test
  void shouldGrowOnlyAsFarAsTheSystemHasMemory() {
    int chunkBytes = (int) ChunkTable.ASKED_BYTES / 2;
    ServerLayout four = new ServerLayout(4L * chunkBytes, chunkBytes);
    MemorySegment bytes = MemorySegment.ofArray(new byte[(int) four.dramBytes()]);
    AtomicLong available = new AtomicLong(ChunkTable.ASKED_BYTES + ChunkTable.SPARE_BYTES);
    ChunkTable growing = new ChunkTable(four, bytes, available::get);
    long first = growing.takeChunk(chunkBytes);
    available.decrementAndGet();
    assertThat(growing.takeChunk(chunkBytes)).isEqualTo(first + chunkBytes);
    assertThat(growing.takeChunk(chunkBytes)).isEqualTo(-1);
    assertThat(growing.takePart(64)).isEqualTo(-1);
    assertThat(growing.usage())
        .isEqualTo(new PoolUsage(4L * chunkBytes, 2L * chunkBytes, 2L * chunkBytes));
    // What is committed already is given out again, whole and in parts.
    growing.release(chunkBytes, new long[] {first + chunkBytes}, 1);
    assertThat(growing.takePart(64)).isEqualTo(first + chunkBytes);
    growing.release(chunkBytes, new long[] {first}, 1);
    assertThat(growing.takeChunk(chunkBytes)).isEqualTo(first);
    assertThat(growing.takeChunk(chunkBytes)).isEqualTo(-1);
    available.incrementAndGet();
    assertThat(growing.takeChunk(chunkBytes)).isEqualTo(first + 2L * chunkBytes);
  }

  @Test
  void shouldGiveBackMemoryInWhichNoNodeIs() {
    List<String> given = new ArrayList<>();
    PoolMemory recording =
        new PoolMemory() {
          @Override
          public long availableBytes() {
            return Long.MAX_VALUE;
          }

          @Override
          public void discard(long offset, long bytes) {
            given.add("%d+%d".formatted(offset, bytes));
          }

          @Override
          public void reuse(long offset, long bytes) {
            given.add("reuse %d+%d".formatted(offset, bytes));
          }
        };
    ChunkTable giving = new ChunkTable(layout, memory, recording);
    long first = giving.takeChunk(1024);
    int nodes = CHUNK_BYTES / 1024;
    giving.release(1024, new long[] {first + 3072, first, first + 1024}, 3);
    assertThat(given)
        .containsExactly(
            "reuse %d+%d".formatted(first, CHUNK_BYTES), first + "+2048", first + 3072 + "+1024");
    given.clear();
    giving.release(1024, new long[] {first + 2048}, 1);
    assertThat(given).containsExactly(first + "+4096");
    given.clear();
    giving.releaseRun(1024, first + 4096, nodes - 4);
    assertThat(given).containsExactly(first + "+" + CHUNK_BYTES);
    given.clear();
    long lasting = SpaceMessage.type(1024, true);
    long kept = giving.takeChunk(lasting);
    giving.releaseRun(lasting, kept, nodes);
    assertThat(given).containsExactly("reuse %d+%d".formatted(kept, CHUNK_BYTES));
  }

  @Test
  void shouldGiveAFreedChunkToAnotherNodeSize() {
    List<Long> chunks = new ArrayList<>();
    for (int i = 0; i < CHUNKS; i++) {
      chunks.add(table.takeChunk(1024));
    }
    assertThat(table.takeChunk(1024)).isNegative();
    long chunk = chunks.get(5);
    table.releaseRun(1024, chunk, CHUNK_BYTES / 1024 - 1);
    assertThat(table.takeChunk(256)).isNegative();
    release(1024, chunk + CHUNK_BYTES - 1024);
    assertThat(table.takeChunk(256)).isEqualTo(chunk);
  }

  @Test
  void shouldKeepTheMemoryOfNodesThatLast() {
    long lasting = SpaceMessage.type(1024, true);
    long chunk = table.takeChunk(lasting);
    table.releaseRun(lasting, chunk, CHUNK_BYTES / 1024);
    assertThat(table.usage()).isEqualTo(new PoolUsage((long) CHUNKS * CHUNK_BYTES, CHUNK_BYTES, 0));
    for (int i = 1; i < CHUNKS; i++) {
      assertThat(table.takeChunk(1024)).isPositive();
    }
    assertThat(table.takeChunk(1024)).isNegative();
    long[] offsets = new long[CHUNK_BYTES / 1024];
    assertThat(table.takeNodes(1024, offsets)).as("nodes that do not last").isZero();
    assertThat(table.copy(memory).takeNodes(lasting, offsets)).isEqualTo(offsets.length);
    assertThat(table.takeNodes(lasting, offsets)).isEqualTo(offsets.length);
    assertRefused(1024, "another size or kind", chunk);
    release(lasting, chunk);
  }

  @Test
  void shouldClearMemoryForNodesThatLast() {
    long lasting = SpaceMessage.type(512, true);
    long chunk = table.takeChunk(1024);
    memory.asSlice(chunk - CHUNK_BYTES, 3L * CHUNK_BYTES).fill((byte) 'z');
    table.releaseRun(1024, chunk, CHUNK_BYTES / 1024);
    assertThat(table.takeChunk(1024)).isEqualTo(chunk);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, chunk)).isEqualTo((byte) 'z');
    table.releaseRun(1024, chunk, CHUNK_BYTES / 1024);
    MemorySegment copied = MemorySegment.ofArray(memory.toArray(ValueLayout.JAVA_BYTE));
    assertThat(table.copy(copied).takeChunk(lasting)).isEqualTo(chunk);
    assertThat(table.takeChunk(lasting)).isEqualTo(chunk);
    byte[] expected = new byte[3 * CHUNK_BYTES];
    Arrays.fill(expected, (byte) 'z');
    Arrays.fill(expected, CHUNK_BYTES, 2 * CHUNK_BYTES, (byte) 0);
    for (MemorySegment each : List.of(memory, copied)) {
      byte[] found =
          each.asSlice(chunk - CHUNK_BYTES, expected.length).toArray(ValueLayout.JAVA_BYTE);
      assertThat(found).isEqualTo(expected);
    }
    table.releaseRun(lasting, chunk, CHUNK_BYTES / 512);
    memory.set(ValueLayout.JAVA_BYTE, chunk, (byte) 1);
    assertThat(table.takeNodes(lasting, new long[1])).isEqualTo(1);
    assertThat(memory.get(ValueLayout.JAVA_BYTE, chunk)).as("a node's lock").isEqualTo((byte) 1);
  }

  @Test
  void shouldGivePartsOfOneChunkToNodesOfManySizes() {
    int chunkBytes = 64 << 10;
    ServerLayout two = new ServerLayout(2L * chunkBytes, chunkBytes);
    MemorySegment bytes = MemorySegment.ofArray(new byte[(int) two.dramBytes()]);
    ChunkTable parted = new ChunkTable(two, bytes, () -> Long.MAX_VALUE);
    int partBytes = parted.partBytes();
    assertThat(partBytes).isEqualTo(4096);
    List<Long> offsets = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      offsets.add(parted.takePart(128L * (1 + i)));
    }
    assertThat(parted.usage().reservedBytes()).isEqualTo(chunkBytes);
    assertThat(parted.takePart(partBytes + 64)).as("too small").isNegative();
    long whole = parted.takeChunk(1024);
    assertThat(whole).isPositive();
    assertThat(parted.takePart(128)).as("all are out").isNegative();
    ChunkTable copy = parted.copy(bytes);
    for (ChunkTable table : List.of(parted, copy)) {
      for (int i = 0; i < 15; i++) {
        int nodeBytes = 128 * (1 + i);
        table.releaseRun(nodeBytes, offsets.get(i), partBytes / nodeBytes);
      }
      assertThat(table.takeChunk(1024)).as("a part is out").isNegative();
      assertThat(table.usage().reservedBytes()).isEqualTo(chunkBytes + partBytes);
      table.releaseRun(2048, offsets.get(15), 2);
      assertThat(table.takeChunk(1024)).isPositive().isNotEqualTo(whole);
    }
  }

  @Test
  void shouldPreferNodesThatCameBack() {
    long chunk = table.takeChunk(1024);
    release(1024, chunk + 2048);
    long[] offsets = new long[4];
    assertThat(table.takeNodes(256, offsets)).isZero();
    assertThat(table.takeNodes(1024, offsets)).isEqualTo(1);
    assertThat(offsets[0]).isEqualTo(chunk + 2048);
    assertThat(table.takeNodes(1024, offsets)).isZero();
  }

  @Test
  void shouldRefuseNonsenseAndChangeNothing() {
    long chunk = table.takeChunk(1024);
    release(1024, chunk);
    PoolUsage before = table.usage();
    assertRefused(1024, "released twice", chunk + 1024, chunk);
    assertRefused(1024, "released twice", chunk + 1024, chunk + 1024);
    assertRefused(1024, "not the start of a node", chunk + 1024, chunk + 1032);
    assertRefused(256, "another size", chunk + 1024);
    assertRefused(1024, "no chunk in use", chunk + 1024, chunk + CHUNK_BYTES);
    assertRefused(1024, "no chunk in use", 0);
    assertRefused(1024, "no chunk in use", FIRST - 1024);
    assertRefused(1024, "no chunk in use", -1024);
    assertRefused(1024, "no chunk in use", Long.MIN_VALUE);
    assertRefused(1024, "no chunk in use", Long.MAX_VALUE);
    assertRefused(1024, "no chunk in use", FIRST + (long) CHUNKS * CHUNK_BYTES);
    for (long nodeBytes : new long[] {0, -1024, 32, 100, 8256, 1L << 40, Long.MIN_VALUE}) {
      assertRefused(nodeBytes, "no such node size", chunk + 1024);
      assertThatThrownBy(() -> table.takeChunk(nodeBytes)).hasMessageContaining("no such node");
    }
    for (long count : new long[] {0, -1, 9, Long.MAX_VALUE}) {
      assertThatThrownBy(() -> table.releaseRun(1024, chunk, count))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(table.usage()).isEqualTo(before);
    table.releaseRun(1024, chunk + 1024, 7);
    assertThat(table.usage().reservedBytes()).isZero();
  }

  @Test
  void shouldRefuseANodeInTheRestOfAChunk() {
    long chunk = table.takeChunk(1088);
    assertRefused(1088, "not the start of a node", chunk + 7 * 1088);
  }

  private void assertRefused(long nodeBytes, String why, long... offsets) {
    PoolUsage before = table.usage();
    assertThatThrownBy(() -> table.release(nodeBytes, offsets, offsets.length))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(why);
    assertThat(table.usage()).isEqualTo(before);
  }

  private void allocate(Model model, int nodeBytes, SplittableRandom random) {
    long[] offsets = new long[1 + random.nextInt(6)];
    int count = table.takeNodes(nodeBytes, offsets);
    for (int i = 0; i < count; i++) {
      model.addNode(nodeBytes, offsets[i]);
    }
    if (count > 0) {
      return;
    }
    assertThat(model.returned(nodeBytes)).isZero();
    long chunk = table.takeChunk(nodeBytes);
    assertThat(chunk < 0).isEqualTo(model.chunks.size() == CHUNKS);
    if (chunk >= 0) {
      model.addChunk(nodeBytes, chunk);
    }
  }

  private void release(Model model, int nodeBytes, SplittableRandom random) {
    for (long offset : model.takeSome(nodeBytes, 1 + random.nextInt(8), random)) {
      release(nodeBytes, offset);
      assertRefused(nodeBytes, "", offset);
    }
  }

  private void release(long nodeBytes, long offset) {
    table.release(nodeBytes, new long[] {offset}, 1);
  }

  /** The nodes that are out, and no cleverness. */
  private static final class Model {
    final Map<Long, Integer> chunks = new HashMap<>();
    final TreeMap<Long, Integer> nodes = new TreeMap<>();

    void addChunk(int nodeBytes, long chunk) {
      assertThat((chunk - FIRST) % CHUNK_BYTES).isZero();
      assertThat(chunks.put(chunk, nodeBytes)).isNull();
      for (long node = chunk; node + nodeBytes <= chunk + CHUNK_BYTES; node += nodeBytes) {
        addNode(nodeBytes, node);
      }
    }

    void addNode(int nodeBytes, long node) {
      Map.Entry<Long, Integer> before = nodes.floorEntry(node);
      if (before != null) {
        assertThat(before.getKey() + before.getValue()).isLessThanOrEqualTo(node);
      }
      Long after = nodes.higherKey(node);
      if (after != null) {
        assertThat(node + nodeBytes).isLessThanOrEqualTo(after);
      }
      nodes.put(node, nodeBytes);
    }

    List<Long> takeSome(int nodeBytes, int count, SplittableRandom random) {
      List<Long> all = offsets(nodeBytes);
      List<Long> some = new ArrayList<>();
      while (some.size() < count && !all.isEmpty()) {
        some.add(all.remove(random.nextInt(all.size())));
      }
      some.forEach(this::removeNode);
      return some;
    }

    List<Long> takeAll(int nodeBytes) {
      List<Long> all = offsets(nodeBytes);
      all.forEach(this::removeNode);
      return all;
    }

    long returned(int nodeBytes) {
      long chunksOfSize = chunks.values().stream().filter(size -> size == nodeBytes).count();
      return chunksOfSize * (CHUNK_BYTES / nodeBytes) - offsets(nodeBytes).size();
    }

    PoolUsage usage() {
      long reserved = (long) chunks.size() * CHUNK_BYTES;
      long returned = 0;
      for (int nodeBytes : NODE_BYTES) {
        returned += returned(nodeBytes) * nodeBytes;
      }
      return new PoolUsage((long) CHUNKS * CHUNK_BYTES, reserved, reserved - returned);
    }

    private List<Long> offsets(int nodeBytes) {
      List<Long> offsets = new ArrayList<>();
      nodes.forEach((offset, bytes) -> {
        if (bytes == nodeBytes) {
          offsets.add(offset);
        }
      });
      return offsets;
    }

    private void removeNode(long node) {
      nodes.remove(node);
      long chunk = (node - FIRST) / CHUNK_BYTES * CHUNK_BYTES + FIRST;
      if (nodes.subMap(chunk, chunk + CHUNK_BYTES).isEmpty()) {
        chunks.remove(chunk);
      }
    }
  }
}
