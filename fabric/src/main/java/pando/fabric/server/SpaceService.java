package pando.fabric.server;

import static pando.fabric.layout.SpaceMessage.bytes;

import java.lang.foreign.MemorySegment;
import java.util.List;
import pando.fabric.PoolUsage;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.memory.Words;

/**
 * Serves the CALLs about space: decodes a message, asks the {@link ChunkTable}, encodes the answer.
 * An illegal request throws {@link IllegalArgumentException}.
 */
final class SpaceService {
  private final ChunkTable table;

  SpaceService(ChunkTable table) {
    this.table = table;
  }

  /** Serves one CALL; returns the length of the response. */
  int handle(int function, MemorySegment message, int requestBytes) {
    return switch (function) {
      case SpaceMessage.ALLOCATE -> allocate(message, requestBytes);
      case SpaceMessage.RELEASE -> release(message, requestBytes);
      case SpaceMessage.RELEASE_RUN -> releaseRun(message, requestBytes);
      case SpaceMessage.USAGE -> usage(message, requestBytes);
      case SpaceMessage.SPACE -> space(message, requestBytes);
      default -> throw new IllegalArgumentException("unknown function");
    };
  }

  private int allocate(MemorySegment message, int requestBytes) {
    checkLength(requestBytes, bytes(2));
    long type = Words.get(message, bytes(0));
    long usedBytes = Words.get(message, bytes(1));
    long[] offsets = new long[SpaceMessage.NODES_MAX];
    int count = table.takeNodes(type, offsets);
    if (count > 0) {
      return respondNodes(message, offsets, count);
    }
    long part = usedBytes < table.chunkBytes() ? table.takePart(type) : -1;
    if (part >= 0) {
      return respondChunk(message, part, table.partBytes());
    }
    long chunk = table.takeChunk(type);
    if (chunk >= 0) {
      return respondChunk(message, chunk, table.chunkBytes());
    }
    part = table.takePart(type);
    return part < 0 ? respondFull(message) : respondChunk(message, part, table.partBytes());
  }

  private static int respondNodes(MemorySegment message, long[] offsets, int count) {
    Words.set(message, bytes(0), SpaceMessage.NODES);
    Words.set(message, bytes(1), count);
    for (int i = 0; i < count; i++) {
      Words.set(message, bytes(2 + i), offsets[i]);
    }
    return bytes(2 + count);
  }

  private static int respondChunk(MemorySegment message, long chunk, int chunkBytes) {
    Words.set(message, bytes(0), SpaceMessage.CHUNK);
    Words.set(message, bytes(1), chunkBytes);
    Words.set(message, bytes(2), chunk);
    return bytes(3);
  }

  private int respondFull(MemorySegment message) {
    Words.set(message, bytes(0), SpaceMessage.FULL);
    setUsage(message, 1);
    return bytes(4);
  }

  private int release(MemorySegment message, int requestBytes) {
    checkLengthAtLeast(requestBytes, bytes(2));
    long type = Words.get(message, bytes(0));
    long count = Words.get(message, bytes(1));
    if (count < 1 || count > SpaceMessage.NODES_MAX) {
      throw new IllegalArgumentException(
          "invalid number of nodes: count=" + count + ", maximum=" + SpaceMessage.NODES_MAX);
    }
    checkLength(requestBytes, bytes(2 + (int) count));
    long[] offsets = new long[(int) count];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = Words.get(message, bytes(2 + i));
    }
    table.release(type, offsets, offsets.length);
    return 0;
  }

  private int releaseRun(MemorySegment message, int requestBytes) {
    checkLength(requestBytes, bytes(3));
    table.releaseRun(
        Words.get(message, bytes(0)), Words.get(message, bytes(2)), Words.get(message, bytes(1)));
    return 0;
  }

  private int usage(MemorySegment message, int requestBytes) {
    checkLength(requestBytes, 0);
    setUsage(message, 0);
    Words.set(message, bytes(3), table.chunkBytes());
    Words.set(message, bytes(4), table.partBytes());
    return bytes(5);
  }

  private int space(MemorySegment message, int requestBytes) {
    checkLength(requestBytes, bytes(1));
    long above = Words.get(message, 0);
    ChunkTable.Space space = table.space();
    Words.set(message, bytes(0), space.freeChunkBytes());
    Words.set(message, bytes(1), space.freePartBytes());
    List<ChunkTable.Size> sizes =
        space.sizes().stream()
            .filter(size -> size.nodeBytes() > above)
            .limit(SpaceMessage.SIZES_MAX)
            .toList();
    Words.set(message, bytes(2), sizes.size());
    int field = SpaceMessage.SPACE_FIELDS;
    for (ChunkTable.Size size : sizes) {
      Words.set(message, bytes(field), size.nodeBytes());
      Words.set(message, bytes(field + 1), size.nodes());
      Words.set(message, bytes(field + 2), size.returnedNodes());
      Words.set(message, bytes(field + 3), size.restBytes());
      field += SpaceMessage.SIZE_FIELDS;
    }
    return bytes(field);
  }

  private void setUsage(MemorySegment message, int field) {
    PoolUsage usage = table.usage();
    Words.set(message, bytes(field), usage.capacityBytes());
    Words.set(message, bytes(field + 1), usage.reservedBytes());
    Words.set(message, bytes(field + 2), usage.usedBytes());
  }

  private static void checkLength(int requestBytes, int required) {
    if (requestBytes != required) {
      throw new IllegalArgumentException(
          "invalid length: requestBytes=" + requestBytes + ", required=" + required);
    }
  }

  private static void checkLengthAtLeast(int requestBytes, int minimum) {
    if (requestBytes < minimum) {
      throw new IllegalArgumentException(
          "invalid length: requestBytes=" + requestBytes + ", minimum=" + minimum);
    }
  }
}
