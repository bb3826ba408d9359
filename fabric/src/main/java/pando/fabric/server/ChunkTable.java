package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import pando.fabric.PoolUsage;
import pando.fabric.layout.ServerLayout;
import pando.fabric.layout.SpaceMessage;

/**
 * The chunks of a memory server that compute servers have, and the nodes of each that were
 * returned.
 *
 * <p>A chunk is given out whole, for nodes of one size, or in equal parts, each for nodes of its
 * own size, so that a compute server with few nodes of many sizes needs little space. Nodes are
 * returned one by one, by any compute server, and given out again in batches; once all nodes of a
 * chunk or part are returned, it is free for any node size. An illegal request throws {@link
 * IllegalArgumentException} and changes nothing. Thread-safe.
 *
 * <p>Nodes that last keep their memory: it is given out again for such nodes only, at the same
 * addresses. So a compute server that follows an old pointer finds a node there, and its lock word,
 * but never the bytes of a value. Memory that had other bytes is cleared before such nodes get it.
 *
 * <p>What nodes are is a word, the {@code type}, as {@link SpaceMessage#type} makes it.
 */
final class ChunkTable {
  private static final int NODE_ALIGNMENT = 64;
  private static final int NODE_BYTES_MIN = 64;

  /** The system is asked whether it has so many bytes before so many are committed. */
  static final long ASKED_BYTES = 8 << 20;

  /** Bytes that are left to the system. */
  static final long SPARE_BYTES = 32 << 20;

  private static final int PARTS_MAX = 64;
  private static final int PART_BYTES_MIN = 4096;

  private final ServerLayout layout;
  private final MemorySegment dram;

  /** Number of parts of a chunk; 1 if it cannot be divided. */
  private final int parts;

  private final int partBytes;

  /**
   * The chunks and parts that are given out, by the number of their first part; the others are
   * null.
   */
  private final @Nullable Chunk[] chunks;

  /** Free chunks. The one freed last is given out first. */
  private final Deque<Integer> free = new ArrayDeque<>();

  /** Free parts of chunks of which other parts are given out. */
  private final Deque<Integer> freeParts = new ArrayDeque<>();

  /** For each chunk, the number of its parts that are given out. */
  private final int[] partsOut;

  /** The parts whose bytes are no longer zero, as nodes that do not last have been there. */
  private final BitSet written = new BitSet();

  /** For each type of nodes, the chunks that have returned nodes. */
  private final Map<Long, SequencedSet<Chunk>> partial = new HashMap<>();

  private long reservedBytes;
  private long returnedBytes;

  private final PoolMemory memory;

  /** Chunks that may be committed before the system is asked again. */
  private int allowed;

  /**
   * Creates a table whose chunks are all free.
   *
   * @param dram zeroed memory, as the layout has it
   * @param memory what is behind it
   */
  ChunkTable(ServerLayout layout, MemorySegment dram, PoolMemory memory) {
    this.layout = layout;
    this.dram = dram;
    this.memory = memory;
    this.parts = parts(layout.chunkBytes());
    this.partBytes = layout.chunkBytes() / parts;
    this.partsOut = new int[layout.chunks()];
    this.chunks = new Chunk[layout.chunks() * parts];
    for (int i = 0; i < layout.chunks(); i++) {
      free.add(i);
    }
  }

  private static int parts(int chunkBytes) {
    int parts = Math.clamp(chunkBytes / PART_BYTES_MIN, 1, PARTS_MAX);
    return chunkBytes % (parts * NODE_ALIGNMENT) == 0 ? parts : 1;
  }

  /** Returns a table whose chunks are all free, for zeroed memory. */
  ChunkTable anew(MemorySegment zeroedDram) {
    return new ChunkTable(layout, zeroedDram, memory);
  }

  /** Returns an independent copy of this table, for a copy of the memory. */
  synchronized ChunkTable copy(MemorySegment copiedDram) {
    ChunkTable copy = new ChunkTable(layout, copiedDram, PoolMemory.COMMITTED);
    copy.free.clear();
    copy.free.addAll(free);
    copy.freeParts.addAll(freeParts);
    System.arraycopy(partsOut, 0, copy.partsOut, 0, partsOut.length);
    for (int number = 0; number < chunks.length; number++) {
      Chunk chunk = chunks[number];
      copy.chunks[number] = chunk == null ? null : chunk.copy();
    }
    copy.written.or(written);
    partial.forEach((type, sources) ->
        sources.forEach(source ->
            copy.partial
                .computeIfAbsent(type, _ -> new LinkedHashSet<>())
                .add(copy.outChunkOf(source.start))));
    copy.reservedBytes = reservedBytes;
    copy.returnedBytes = returnedBytes;
    return copy;
  }

  /**
   * Takes nodes that were returned, from the oldest chunk first.
   *
   * @param offsets receives their offsets
   * @return their number, 0 if a chunk is needed
   */
  synchronized int takeNodes(long type, long[] offsets) {
    long nodeBytes = nodeBytes(type);
    SequencedSet<Chunk> sources = partial.get(type);
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

  /** Takes a whole chunk; returns its offset, or -1 if none is free. */
  synchronized long takeChunk(long type) {
    nodeBytes(type);
    int number = takeFree();
    if (number < 0) {
      return -1;
    }
    return take(number * parts, type, layout.chunkBytes());
  }

  /** Takes a free chunk; returns its number, or -1 if there is none that may be committed. */
  private int takeFree() {
    if (free.isEmpty() || !mayCommit()) {
      return -1;
    }
    int number = free.removeFirst();
    // Before it is written: huge pages come with the first access.
    memory.reuse(
        ServerLayout.CHUNKS_OFFSET + (long) number * layout.chunkBytes(), layout.chunkBytes());
    return number;
  }

  /**
   * Returns whether the system has the memory for another chunk, and some to spare: it would end
   * this process rather than refuse it. Asks once for as many chunks as {@link #ASKED_BYTES} are.
   */
  private boolean mayCommit() {
    if (allowed == 0) {
      int asked = askedChunks();
      if (memory.availableBytes() < (long) asked * layout.chunkBytes() + SPARE_BYTES) {
        return false;
      }
      allowed = asked;
    }
    allowed--;
    return true;
  }

  /**
   * Takes a part of a chunk; returns its offset, or -1 if none is free or it is too small for a
   * node.
   */
  synchronized long takePart(long type) {
    if (nodeBytes(type) > partBytes) {
      return -1;
    }
    if (freeParts.isEmpty()) {
      int first = takeFree() * parts;
      for (int part = 0; first >= 0 && part < parts; part++) {
        freeParts.add(first + part);
      }
    }
    Integer part = freeParts.pollFirst();
    if (part == null) {
      return -1;
    }
    partsOut[part / parts]++;
    return take(part, type, partBytes);
  }

  private long take(int number, long type, int bytes) {
    long start = ServerLayout.CHUNKS_OFFSET + (long) number * partBytes;
    chunks[number] = new Chunk(number, start, type, bytes);
    reservedBytes += bytes;
    for (int part = number; part < number + bytes / partBytes; part++) {
      long offset = ServerLayout.CHUNKS_OFFSET + (long) part * partBytes;
      if (!SpaceMessage.lasts(type)) {
        written.set(part);
      } else if (written.get(part)) {
        dram.asSlice(offset, partBytes).fill((byte) 0);
      }
    }
    return start;
  }

  /** Takes back {@code count} nodes. */
  synchronized void release(long type, long[] offsets, int count) {
    nodeBytes(type);
    int marked = 0;
    try {
      for (; marked < count; marked++) {
        mark(type, offsets[marked]);
      }
    } finally {
      if (marked < count) {
        unmark(offsets, marked);
      }
    }
    Map<Chunk, BitSet> partly = new HashMap<>();
    for (int i = 0; i < count; i++) {
      Chunk chunk = outChunkOf(offsets[i]);
      partly.computeIfAbsent(chunk, _ -> new BitSet()).set(chunk.node(offsets[i]));
      if (settle(chunk)) {
        partly.remove(chunk);
        memory.discard(chunk.start, chunk.bytes);
      }
    }
    if (!SpaceMessage.lasts(type)) {
      partly.forEach((chunk, nodes) -> chunk.discardAround(nodes, memory));
    }
  }

  /** Takes back {@code count} adjacent nodes of one chunk. */
  void releaseRun(long type, long first, long count) {
    long nodeBytes = nodeBytes(type);
    if (count < 1 || count > layout.chunkBytes() / nodeBytes) {
      throw new IllegalArgumentException(
          "no chunk has so many nodes: count=" + count + ", nodeBytes=" + nodeBytes);
    }
    long[] offsets = new long[(int) count];
    Arrays.setAll(offsets, i -> first + i * nodeBytes);
    release(type, offsets, offsets.length);
  }

  /** Returns the size of a chunk. */
  int chunkBytes() {
    return layout.chunkBytes();
  }

  /** Returns the size of a part of a chunk. */
  int partBytes() {
    return partBytes;
  }

  /** Returns how much is taken. */
  synchronized PoolUsage usage() {
    long capacityBytes = (long) layout.chunks() * layout.chunkBytes();
    return new PoolUsage(capacityBytes, reservedBytes, reservedBytes - returnedBytes);
  }

  /**
   * Where all bytes of the chunks are.
   *
   * @param freeChunkBytes bytes of chunks that nobody has
   * @param freePartBytes bytes of parts that nobody has, of chunks of which somebody has others
   * @param sizes what is given out, by the size of its nodes, the least first
   */
  record Space(long freeChunkBytes, long freePartBytes, List<Size> sizes) {}

  /**
   * The chunks and parts that are given out for nodes of one size.
   *
   * @param nodes that they have room for
   * @param returnedNodes those of them that were returned
   * @param restBytes bytes behind the last nodes
   */
  record Size(int nodeBytes, long nodes, long returnedNodes, long restBytes) {
    private Size plus(Size other) {
      return new Size(
          nodeBytes,
          nodes + other.nodes,
          returnedNodes + other.returnedNodes,
          restBytes + other.restBytes);
    }
  }

  /** Returns where all bytes of the chunks are. */
  synchronized Space space() {
    SortedMap<Integer, Size> sizes = new TreeMap<>();
    for (Chunk chunk : chunks) {
      if (chunk != null) {
        sizes.merge(chunk.nodeBytes, chunk.size(), Size::plus);
      }
    }
    return new Space(
        (long) free.size() * layout.chunkBytes(),
        (long) freeParts.size() * partBytes,
        List.copyOf(sizes.values()));
  }

  private void mark(long type, long offset) {
    Chunk chunk = chunkOf(offset);
    if (chunk == null) {
      throw new IllegalArgumentException("no chunk in use holds such a node: offset=" + offset);
    }
    if (chunk.type != type) {
      throw new IllegalArgumentException(
          "node of another size or kind: offset=%s, nodes=%s, nodes of the chunk=%s"
              .formatted(offset, SpaceMessage.text(type), SpaceMessage.text(chunk.type)));
    }
    if ((offset - chunk.start) % chunk.nodeBytes != 0 || chunk.node(offset) >= chunk.nodes) {
      throw new IllegalArgumentException(
          "not the start of a node: offset="
              + offset
              + ", chunk="
              + chunk.start
              + ", nodeBytes="
              + chunk.nodeBytes);
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

  /**
   * Counts a marked node; frees its chunk or part with the last, unless its nodes last.
   *
   * @return whether it has freed it
   */
  private boolean settle(Chunk chunk) {
    chunk.returnedCount++;
    returnedBytes += chunk.nodeBytes;
    SequencedSet<Chunk> sources =
        partial.computeIfAbsent(chunk.type, type -> new LinkedHashSet<>());
    if (chunk.returnedCount < chunk.nodes || SpaceMessage.lasts(chunk.type)) {
      sources.add(chunk);
      return false;
    }
    sources.remove(chunk);
    returnedBytes -= (long) chunk.nodes * chunk.nodeBytes;
    chunks[chunk.number] = null;
    reservedBytes -= chunk.bytes;
    if (chunk.bytes == layout.chunkBytes()) {
      freeChunk(chunk.number / parts);
    } else {
      freePart(chunk.number);
    }
    return true;
  }

  private void freePart(int part) {
    int chunk = part / parts;
    freeParts.addFirst(part);
    if (--partsOut[chunk] == 0) {
      freeParts.removeIf(other -> other / parts == chunk);
      freeChunk(chunk);
    }
  }

  /** Frees a chunk, whose memory the system has again: it need not be asked for it at once. */
  private void freeChunk(int number) {
    free.addFirst(number);
    allowed = Math.min(allowed + 1, askedChunks());
  }

  private int askedChunks() {
    return (int) Math.max(ASKED_BYTES / layout.chunkBytes(), 1);
  }

  private @Nullable Chunk chunkOf(long offset) {
    long part = (offset - ServerLayout.CHUNKS_OFFSET) / partBytes;
    if (offset < ServerLayout.CHUNKS_OFFSET || part >= chunks.length) {
      return null;
    }
    Chunk own = chunks[(int) part];
    Chunk whole = own == null ? chunks[(int) (part - part % parts)] : own;
    return whole != null && offset < whole.start + whole.bytes ? whole : null;
  }

  private Chunk outChunkOf(long offset) {
    Chunk chunk = chunkOf(offset);
    if (chunk == null) {
      throw new AssertionError("chunk vanished while locked: offset=" + offset);
    }
    return chunk;
  }

  /** Returns the size of nodes, which is checked. */
  private long nodeBytes(long type) {
    long nodeBytes = SpaceMessage.nodeBytes(type);
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
    return nodeBytes;
  }

  /** A chunk, or a part of one, that is given out. */
  private static final class Chunk {
    final int number;
    final long start;
    final long type;
    final int nodeBytes;
    final int bytes;
    final int nodes;

    /** The nodes that were returned. */
    final BitSet returned = new BitSet();

    int returnedCount;

    Chunk(int number, long start, long type, int bytes) {
      this.number = number;
      this.start = start;
      this.type = type;
      this.nodeBytes = (int) SpaceMessage.nodeBytes(type);
      this.bytes = bytes;
      this.nodes = bytes / nodeBytes;
    }

    Chunk copy() {
      Chunk copy = new Chunk(number, start, type, bytes);
      copy.returned.or(returned);
      copy.returnedCount = returnedCount;
      return copy;
    }

    Size size() {
      return new Size(nodeBytes, nodes, returnedCount, bytes - (long) nodes * nodeBytes);
    }

    /**
     * Gives the memory of nodes that were just returned back to the system, with that of returned
     * nodes beside them, as far as it is pages.
     */
    void discardAround(BitSet nodes, PoolMemory memory) {
      int end;
      for (int node = nodes.nextSetBit(0); node >= 0; node = nodes.nextSetBit(end)) {
        int first = returned.previousClearBit(node) + 1;
        end = returned.nextClearBit(node);
        memory.discard(start + (long) first * nodeBytes, (long) (end - first) * nodeBytes);
      }
    }

    int node(long offset) {
      return (int) ((offset - start) / nodeBytes);
    }
  }
}
