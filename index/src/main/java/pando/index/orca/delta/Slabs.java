package pando.index.orca.delta;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import pando.index.orca.parts.CacheParts;

/**
 * Blocks of some sizes, carved out of slabs, into which the parts of a memory are divided. All
 * blocks of a slab have the same size; a slab whose blocks are all free may be given to another
 * size, or leave with its part.
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

  /**
   * About how large a slab is: as the largest block. In larger slabs a few blocks that stay keep
   * much memory from other sizes, and deltas grow through the sizes together.
   */
  private static final int SLAB_BYTES = (int) DeltaBlock.BYTES_MAX;

  private static final ValueLayout.OfInt LINK = JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int LINK_AT = 8;

  private final CacheParts parts;
  private final MemorySegment memory;
  private final int slabsOfPart;
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

  /** Whether it is a slab of a part that is here to stay. */
  private final boolean[] here;

  private int emptySlab = NONE;
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicLong bytesUsed = new AtomicLong();
  private final AtomicLong roomUsed = new AtomicLong();

  /**
   * Creates slabs of no part.
   *
   * @param sizes the records of a block, for each size, ascending; those that no slab can hold are
   *     left out
   */
  Slabs(CacheParts parts, int[] sizes) {
    this.parts = parts;
    this.memory = parts.memory();
    slabsOfPart = (int) Math.max(1, parts.bytesOfPart() / SLAB_BYTES);
    slabBytes = (int) (parts.bytesOfPart() / slabsOfPart) & -DeltaBlock.UNIT_BYTES;
    rooms = Arrays.stream(sizes).filter(room -> DeltaBlock.bytes(room) <= slabBytes).toArray();
    blockBytes = Arrays.stream(rooms).map(room -> (int) DeltaBlock.bytes(room)).toArray();
    capacity = Arrays.stream(blockBytes).map(bytes -> slabBytes / bytes).toArray();
    firstSlab = new int[rooms.length];
    Arrays.fill(firstSlab, NONE);
    int most = parts.count() * slabsOfPart;
    size = new int[most];
    Arrays.fill(size, NONE);
    used = new int[most];
    carved = new int[most];
    firstBlock = new int[most];
    next = new int[most];
    previous = new int[most];
    here = new boolean[most];
  }

  // Parts

  /** Adds the slabs of a part, or takes a retired one back. */
  synchronized void add(int part) {
    for (int slab = part * slabsOfPart; slab < (part + 1) * slabsOfPart; slab++) {
      here[slab] = true;
      bytes.addAndGet(slabBytes);
      if (size[slab] == NONE) {
        pushEmpty(slab);
      } else if (used[slab] < capacity[size[slab]]) {
        link(slab);
      }
    }
  }

  /** Takes no more blocks from a part. */
  synchronized void retire(int part) {
    for (int slab = part * slabsOfPart; slab < (part + 1) * slabsOfPart; slab++) {
      here[slab] = false;
      bytes.addAndGet(-slabBytes);
      if (size[slab] == NONE) {
        removeEmpty(slab);
      } else if (used[slab] < capacity[size[slab]]) {
        unlink(slab);
      }
    }
  }

  /** Returns whether blocks are taken from a part. */
  synchronized boolean has(int part) {
    return here[part * slabsOfPart];
  }

  /** Returns the bytes of the blocks in use of a part. */
  synchronized long bytesUsed(int part) {
    long sum = 0;
    for (int slab = part * slabsOfPart; slab < (part + 1) * slabsOfPart; slab++) {
      sum += size[slab] == NONE ? 0 : (long) used[slab] * blockBytes[size[slab]];
    }
    return sum;
  }

  /** Returns the bytes of all slabs. */
  long bytes() {
    return bytes.get();
  }

  /** Returns the bytes of all blocks in use. */
  long bytesUsed() {
    return bytesUsed.get();
  }

  /** Returns the number of records that all blocks in use can hold. */
  long roomUsed() {
    return roomUsed.get();
  }

  /** Takes an empty block for some records; {@link DeltaBlock#NONE} if there is none. */
  synchronized int take(int records) {
    if (records > rooms[rooms.length - 1]) {
      return DeltaBlock.NONE;
    }
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
    removeEmpty(slab);
    size[slab] = sizeOfBlocks;
    carved[slab] = 0;
    firstBlock[slab] = DeltaBlock.NONE;
    link(slab);
    return slab;
  }

  private int takeFrom(int slab) {
    int bytesOfBlock = blockBytes[size[slab]];
    int block = firstBlock[slab];
    if (block == DeltaBlock.NONE) {
      block = DeltaBlock.of(offset(slab) + (long) carved[slab] * bytesOfBlock);
      carved[slab]++;
    } else {
      firstBlock[slab] = memory.get(LINK, DeltaBlock.at(block) + LINK_AT);
    }
    used[slab]++;
    if (used[slab] == capacity[size[slab]]) {
      unlink(slab);
    }
    bytesUsed.addAndGet(bytesOfBlock);
    roomUsed.addAndGet(rooms[size[slab]]);
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
    if (here[slab] && used[slab] == capacity[size[slab]]) {
      link(slab);
    }
    used[slab]--;
    bytesUsed.addAndGet(-blockBytes[size[slab]]);
    roomUsed.addAndGet(-rooms[size[slab]]);
    DeltaBlock.setHeader(memory, block, 0, 0);
    memory.set(LINK, DeltaBlock.at(block) + LINK_AT, firstBlock[slab]);
    firstBlock[slab] = block;
    if (used[slab] == 0) {
      if (here[slab]) {
        unlink(slab);
        pushEmpty(slab);
      }
      size[slab] = NONE;
    }
  }

  private void checkUsed(int block) {
    if (!isUsed(block)) {
      throw new IllegalStateException(
          "the block is not in use: block=" + block + ", bytes=" + bytes);
    }
  }

  private boolean isUsed(int block) {
    long at = DeltaBlock.at(block);
    if (at < 0 || at >= parts.count() * parts.bytesOfPart()) {
      return false;
    }
    int slab = slabOf(block);
    long atInSlab = at - offset(slab);
    if (atInSlab >= slabBytes || size[slab] == NONE) {
      return false;
    }
    int bytesOfBlock = blockBytes[size[slab]];
    return atInSlab % bytesOfBlock == 0
        && atInSlab / bytesOfBlock < carved[slab]
        && DeltaBlock.room(memory, block) == rooms[size[slab]];
  }

  private int slabOf(int block) {
    long at = DeltaBlock.at(block);
    int part = parts.partOf(at);
    long inPart = (at - parts.offset(part)) / slabBytes;
    return part * slabsOfPart + (int) Math.min(inPart, slabsOfPart - 1);
  }

  private long offset(int slab) {
    return parts.offset(slab / slabsOfPart) + (long) (slab % slabsOfPart) * slabBytes;
  }

  private void pushEmpty(int slab) {
    emptySlab = pushed(emptySlab, slab);
  }

  private void removeEmpty(int slab) {
    emptySlab = removed(emptySlab, slab);
  }

  /** Puts a slab that has a free block into the list of its size. */
  private void link(int slab) {
    firstSlab[size[slab]] = pushed(firstSlab[size[slab]], slab);
  }

  /** Takes a slab out of the list of its size. */
  private void unlink(int slab) {
    firstSlab[size[slab]] = removed(firstSlab[size[slab]], slab);
  }

  /** Puts a slab in front of a list; returns the list's first slab. */
  private int pushed(int first, int slab) {
    next[slab] = first;
    previous[slab] = NONE;
    if (first != NONE) {
      previous[first] = slab;
    }
    return slab;
  }

  /** Takes a slab out of a list; returns the list's first slab. */
  private int removed(int first, int slab) {
    if (next[slab] != NONE) {
      previous[next[slab]] = previous[slab];
    }
    if (previous[slab] == NONE) {
      return next[slab];
    }
    next[previous[slab]] = next[slab];
    return first;
  }
}
