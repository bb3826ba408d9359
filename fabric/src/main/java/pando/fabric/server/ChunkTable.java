package pando.fabric.server;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;
import pando.fabric.PoolUsage;
import pando.fabric.layout.ServerLayout;

/**
 * Which chunks of a memory server are out, and which of their nodes came back.
 *
 * <p>A chunk goes out whole, for nodes of one size. Nodes come back one by one, from any compute
 * server, and go out again in batches; once all nodes of a chunk are back, the chunk is free for
 * any node size. A request that makes no sense is refused whole, with {@link
 * IllegalArgumentException}, and changes nothing. Thread-safe.
 */
final class ChunkTable {
  private static final int NODE_ALIGNMENT = 64;
  private static final int NODE_BYTES_MIN = 128;

  private final ServerLayout layout;

  /** The chunks that are out, by number; the others are null. */
  private final @Nullable Chunk[] chunks;

  /** Free chunks. The one freed last goes out first: its memory is committed already. */
  private final Deque<Integer> free = new ArrayDeque<>();

  /** By node size, the chunks that have nodes to give out again. */
  private final Map<Integer, SequencedSet<Chunk>> partial = new HashMap<>();

  private long returnedBytes;

  ChunkTable(ServerLayout layout) {
    this.layout = layout;
    this.chunks = new Chunk[layout.chunks()];
    for (int i = 0; i < layout.chunks(); i++) {
      free.add(i);
    }
  }

  /** Returns a table that starts where this one stands. */
  synchronized ChunkTable copy() {
    ChunkTable copy = new ChunkTable(layout);
    copy.free.clear();
    copy.free.addAll(free);
    for (int number = 0; number < chunks.length; number++) {
      Chunk chunk = chunks[number];
      copy.chunks[number] = chunk == null ? null : chunk.copy();
    }
    partial.forEach((nodeBytes, sources) ->
        sources.forEach(source ->
            copy.partial
                .computeIfAbsent(nodeBytes, _ -> new LinkedHashSet<>())
                .add(copy.outChunkOf(source.start))));
    copy.returnedBytes = returnedBytes;
    return copy;
  }

  /**
   * Takes nodes that came back, oldest chunk first.
   *
   * @param offsets takes their offsets
   * @return their number, 0 where a chunk is needed
   */
  synchronized int takeNodes(long nodeBytes, long[] offsets) {
    checkNodeBytes(nodeBytes);
    SequencedSet<Chunk> sources = partial.get((int) nodeBytes);
    int taken = 0;
    while (sources != null && !sources.isEmpty() && taken < offsets.length) {
      Chunk chunk = sources.getFirst();
      for (int node = chunk.returned.nextSetBit(0);
          node >= 0 && taken < offsets.length;
          node = chunk.returned.nextSetBit(node)) {
        chunk.returned.clear(node);
        chunk.returnedCount--;
        offsets[taken++] = chunk.start + (long) node * nodeBytes;
      }
      if (chunk.returnedCount == 0) {
        sources.removeFirst();
      }
    }
    returnedBytes -= taken * nodeBytes;
    return taken;
  }

  /** Takes a whole chunk; returns its offset, or -1 where none is free. */
  synchronized long takeChunk(long nodeBytes) {
    checkNodeBytes(nodeBytes);
    Integer number = free.pollFirst();
    if (number == null) {
      return -1;
    }
    long start = ServerLayout.CHUNKS_OFFSET + (long) number * layout.chunkBytes();
    chunks[number] = new Chunk(number, start, (int) nodeBytes, layout.chunkBytes());
    return start;
  }

  /** Takes back {@code count} nodes. */
  synchronized void release(long nodeBytes, long[] offsets, int count) {
    checkNodeBytes(nodeBytes);
    int marked = 0;
    try {
      for (; marked < count; marked++) {
        mark(nodeBytes, offsets[marked]);
      }
    } finally {
      if (marked < count) {
        unmark(offsets, marked);
      }
    }
    for (int i = 0; i < count; i++) {
      settle(offsets[i]);
    }
  }

  /** Takes back {@code count} adjacent nodes of one chunk. */
  void releaseRun(long nodeBytes, long first, long count) {
    checkNodeBytes(nodeBytes);
    if (count < 1 || count > layout.chunkBytes() / nodeBytes) {
      throw new IllegalArgumentException(
          "no chunk has so many nodes: count=" + count + ", nodeBytes=" + nodeBytes);
    }
    long[] offsets = new long[(int) count];
    Arrays.setAll(offsets, i -> first + i * nodeBytes);
    release(nodeBytes, offsets, offsets.length);
  }

  /** Returns the size of a chunk. */
  int chunkBytes() {
    return layout.chunkBytes();
  }

  /** Returns how much is taken. */
  synchronized PoolUsage usage() {
    long chunkBytes = layout.chunkBytes();
    long reservedBytes = (layout.chunks() - free.size()) * chunkBytes;
    return new PoolUsage(
        layout.chunks() * chunkBytes, reservedBytes, reservedBytes - returnedBytes);
  }

  private void mark(long nodeBytes, long offset) {
    Chunk chunk = chunkOf(offset);
    if (chunk == null) {
      throw new IllegalArgumentException("no chunk in use holds such a node: offset=" + offset);
    }
    if (chunk.nodeBytes != nodeBytes) {
      throw new IllegalArgumentException(
          "node of another size: offset="
              + offset
              + ", nodeBytes="
              + nodeBytes
              + ", nodeBytes of the chunk="
              + chunk.nodeBytes);
    }
    if ((offset - chunk.start) % nodeBytes != 0 || chunk.node(offset) >= chunk.nodes) {
      throw new IllegalArgumentException(
          "not the start of a node: offset="
              + offset
              + ", chunk="
              + chunk.start
              + ", nodeBytes="
              + nodeBytes);
    }
    if (chunk.returned.get(chunk.node(offset))) {
      throw new IllegalArgumentException("node released twice: offset=" + offset);
    }
    chunk.returned.set(chunk.node(offset));
  }

  private void unmark(long[] offsets, int count) {
    for (int i = 0; i < count; i++) {
      Chunk chunk = outChunkOf(offsets[i]);
      chunk.returned.clear(chunk.node(offsets[i]));
    }
  }

  /** Counts a marked node; frees its chunk with the last. */
  private void settle(long offset) {
    Chunk chunk = outChunkOf(offset);
    chunk.returnedCount++;
    returnedBytes += chunk.nodeBytes;
    SequencedSet<Chunk> sources =
        partial.computeIfAbsent(chunk.nodeBytes, nodeBytes -> new LinkedHashSet<>());
    if (chunk.returnedCount < chunk.nodes) {
      sources.add(chunk);
      return;
    }
    sources.remove(chunk);
    returnedBytes -= (long) chunk.nodes * chunk.nodeBytes;
    chunks[chunk.number] = null;
    free.addFirst(chunk.number);
  }

  private @Nullable Chunk chunkOf(long offset) {
    long number = (offset - ServerLayout.CHUNKS_OFFSET) / layout.chunkBytes();
    boolean inside = offset >= ServerLayout.CHUNKS_OFFSET && number < chunks.length;
    return inside ? chunks[(int) number] : null;
  }

  private Chunk outChunkOf(long offset) {
    Chunk chunk = chunkOf(offset);
    if (chunk == null) {
      throw new AssertionError("chunk vanished while locked: offset=" + offset);
    }
    return chunk;
  }

  private void checkNodeBytes(long nodeBytes) {
    if (nodeBytes < NODE_BYTES_MIN
        || nodeBytes > layout.chunkBytes()
        || nodeBytes % NODE_ALIGNMENT != 0) {
      throw new IllegalArgumentException(
          "no such node size: nodeBytes="
              + nodeBytes
              + ", minimum="
              + NODE_BYTES_MIN
              + ", chunkBytes="
              + layout.chunkBytes()
              + ", alignment="
              + NODE_ALIGNMENT);
    }
  }

  /** A chunk that is out. */
  private static final class Chunk {
    final int number;
    final long start;
    final int nodeBytes;
    final int nodes;

    /** The nodes that are back. */
    final BitSet returned = new BitSet();

    int returnedCount;

    Chunk(int number, long start, int nodeBytes, int chunkBytes) {
      this.number = number;
      this.start = start;
      this.nodeBytes = nodeBytes;
      this.nodes = chunkBytes / nodeBytes;
    }

    Chunk copy() {
      Chunk copy = new Chunk(number, start, nodeBytes, nodes * nodeBytes);
      copy.returned.or(returned);
      copy.returnedCount = returnedCount;
      return copy;
    }

    int node(long offset) {
      return (int) ((offset - start) / nodeBytes);
    }
  }
}
