package pando.index.orca.delta;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Blocks of some sizes, carved out of slabs of one memory. All blocks of a slab have the same size;
 * a slab whose blocks are all free may be given to another size.
 *
 * <p>Thread-safe.
 */
final class Slabs {
  /*
   * Each size has a list of its slabs that have a free block; a slab has a list of its blocks that
   * were given back, linked through their headers, and a number of blocks that were carved so far.
   * When the last block in use of a slab is given back, the slab leaves the list of its size and
   * becomes an empty slab, whatever its blocks are. So nothing is ever searched.
   *
   * A block of a larger size is given only where there is neither a block of the size asked for
   * nor an empty slab. So the block that a merge gives back is always of use to a session that waits for
   * one that is not larger.
   */

  private static final int NONE = -1;

  private static final ValueLayout.OfInt LINK = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int LINK_AT = 8;

  private final MemorySegment memory;
  private final int slabBytes;
  private final int[] rooms;

  // By size.
  private final int[] blockBytes;
  private final int[] capacity;
  private final int[] firstSlab;

  // By slab.
  private final int[] size;
  private final int[] used;
  private final int[] carved;
  private final int[] firstBlock;
  private final int[] next;
  private final int[] previous;

  private int emptySlab;
  private final AtomicLong bytesUsed = new AtomicLong();

  /**
   * Creates slabs that are all empty.
   *
   * @param memory starts with the slabs
   * @param slabBytes bytes of a slab, at least those of the largest block
   * @param rooms the records of a block, for each size, ascending
   */
  Slabs(MemorySegment memory, int slabs, int slabBytes, int[] rooms) {
    this.memory = memory;
    this.slabBytes = slabBytes;
    this.rooms = rooms.clone();
    blockBytes = Arrays.stream(rooms).map(room -> (int) DeltaBlock.bytes(room)).toArray();
    capacity = Arrays.stream(blockBytes).map(bytes -> slabBytes / bytes).toArray();
    firstSlab = new int[rooms.length];
    Arrays.fill(firstSlab, NONE);
    size = new int[slabs];
    Arrays.fill(size, NONE);
    used = new int[slabs];
    carved = new int[slabs];
    firstBlock = new int[slabs];
    next = new int[slabs];
    previous = new int[slabs];
    for (int slab = 0; slab < slabs; slab++) {
      next[slab] = slab + 1 < slabs ? slab + 1 : NONE;
    }
  }

  /** Returns the bytes of all slabs. */
  long bytes() {
    return (long) size.length * slabBytes;
  }

  /** Returns the bytes of all blocks in use. */
  long bytesUsed() {
    return bytesUsed.get();
  }

  /** Takes an empty block for some records; {@link DeltaBlock#NONE} if there is none. */
  synchronized int take(int records) {
    int wanted = sizeFor(records);
    int slab = firstSlab[wanted];
    if (slab == NONE && emptySlab != NONE) {
      slab = open(wanted);
    }
    for (int larger = wanted + 1; slab == NONE && larger < rooms.length; larger++) {
      slab = firstSlab[larger];
    }
    return slab == NONE ? DeltaBlock.NONE : takeFrom(slab);
  }

  private int sizeFor(int records) {
    int wanted = 0;
    while (rooms[wanted] < records) {
      wanted++;
    }
    return wanted;
  }

  private int open(int sizeOfBlocks) {
    int slab = emptySlab;
    emptySlab = next[slab];
    size[slab] = sizeOfBlocks;
    carved[slab] = 0;
    firstBlock[slab] = DeltaBlock.NONE;
    link(slab);
    return slab;
  }

  private int takeFrom(int slab) {
    int bytes = blockBytes[size[slab]];
    int block = firstBlock[slab];
    if (block == DeltaBlock.NONE) {
      block = DeltaBlock.of((long) slab * slabBytes + (long) carved[slab] * bytes);
      carved[slab]++;
    } else {
      firstBlock[slab] = memory.get(LINK, DeltaBlock.at(block) + LINK_AT);
    }
    used[slab]++;
    if (used[slab] == capacity[size[slab]]) {
      unlink(slab);
    }
    bytesUsed.addAndGet(bytes);
    DeltaBlock.setHeader(memory, block, 0, rooms[size[slab]]);
    return block;
  }

  /**
   * Gives a block back.
   *
   * @throws IllegalStateException if it is not in use
   */
  synchronized void give(int block) {
    checkUsed(block);
    int slab = slabOf(block);
    if (used[slab] == capacity[size[slab]]) {
      link(slab);
    }
    used[slab]--;
    bytesUsed.addAndGet(-blockBytes[size[slab]]);
    DeltaBlock.setHeader(memory, block, 0, 0);
    memory.set(LINK, DeltaBlock.at(block) + LINK_AT, firstBlock[slab]);
    firstBlock[slab] = block;
    if (used[slab] == 0) {
      unlink(slab);
      size[slab] = NONE;
      next[slab] = emptySlab;
      emptySlab = slab;
    }
  }

  private void checkUsed(int block) {
    if (!isUsed(block)) {
      throw new IllegalStateException(
          "the block is not in use: block=" + block + ", slabs=" + size.length);
    }
  }

  private boolean isUsed(int block) {
    long at = DeltaBlock.at(block);
    if (at < 0 || at >= bytes() || size[slabOf(block)] == NONE) {
      return false;
    }
    int slab = slabOf(block);
    int bytes = blockBytes[size[slab]];
    int atInSlab = (int) (at % slabBytes);
    return atInSlab % bytes == 0
        && atInSlab / bytes < carved[slab]
        && DeltaBlock.room(memory, block) == rooms[size[slab]];
  }

  private int slabOf(int block) {
    return (int) (DeltaBlock.at(block) / slabBytes);
  }

  /** Puts a slab that has a free block into the list of its size. */
  private void link(int slab) {
    int first = firstSlab[size[slab]];
    next[slab] = first;
    previous[slab] = NONE;
    if (first != NONE) {
      previous[first] = slab;
    }
    firstSlab[size[slab]] = slab;
  }

  /** Takes a slab out of the list of its size. */
  private void unlink(int slab) {
    if (previous[slab] == NONE) {
      firstSlab[size[slab]] = next[slab];
    } else {
      next[previous[slab]] = next[slab];
    }
    if (next[slab] != NONE) {
      previous[next[slab]] = previous[slab];
    }
  }
}
