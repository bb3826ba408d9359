package pando.baselines.blink;

/**
 * An ordered map from low fences to frame numbers with a fixed capacity: sorted blocks, and a
 * sorted directory of blocks. Allocates only in the constructor.
 *
 * <p>Only one thread may write at a time. A reader concurrent with a writer terminates without an
 * exception, but its result may be wrong; the caller must detect that.
 */
final class FenceIndex {
  static final int NONE = -1;

  private static final int BLOCK = 128;

  private final long[] fences;
  private final int[] frames;
  private final int[] counts;
  private final long[] firsts;
  private final int[] directory;
  private final int[] spare;
  private int blocks;
  private int spares;

  /** Creates an empty map for {@code capacity} entries. */
  FenceIndex(int capacity) {
    // Neighbouring blocks that fit into half a block are joined, so any two hold more than that.
    int most = 2 * (2 * capacity / BLOCK) + 2;
    fences = new long[most * BLOCK];
    frames = new int[most * BLOCK];
    counts = new int[most];
    firsts = new long[most];
    directory = new int[most];
    spare = new int[most];
    for (int i = 0; i < most; i++) {
      spare[i] = most - 1 - i;
    }
    spares = most;
  }

  /** Returns the frame of the greatest fence at or below a key, {@link #NONE} if there is none. */
  int floor(long key) {
    int place = placeOf(key);
    if (place < 0) {
      return NONE;
    }
    int block = directory[place];
    int at = at(block, key);
    return at < 0 ? NONE : frames[block * BLOCK + at];
  }

  /**
   * Maps a fence to a frame. Returns the frame that the fence was mapped to before, or {@link
   * #NONE}.
   */
  int put(long fence, int frame) {
    int place = Math.max(placeOf(fence), 0);
    if (blocks == 0) {
      addBlock(0, fence);
    }
    int block = directory[place];
    int at = at(block, fence);
    if (at >= 0 && fences[block * BLOCK + at] == fence) {
      int before = frames[block * BLOCK + at];
      frames[block * BLOCK + at] = frame;
      return before;
    }
    if (counts[block] == BLOCK) {
      split(place);
      return put(fence, frame);
    }
    int start = block * BLOCK + at + 1;
    int moved = counts[block] - at - 1;
    System.arraycopy(fences, start, fences, start + 1, moved);
    System.arraycopy(frames, start, frames, start + 1, moved);
    fences[start] = fence;
    frames[start] = frame;
    counts[block]++;
    firsts[place] = fences[block * BLOCK];
    return NONE;
  }

  /** Removes a fence, if it is mapped to {@code frame}. */
  void remove(long fence, int frame) {
    int place = placeOf(fence);
    if (place < 0) {
      return;
    }
    int block = directory[place];
    int at = at(block, fence);
    int entry = block * BLOCK + at;
    if (at < 0 || fences[entry] != fence || frames[entry] != frame) {
      return;
    }
    int moved = counts[block] - at - 1;
    System.arraycopy(fences, entry + 1, fences, entry, moved);
    System.arraycopy(frames, entry + 1, frames, entry, moved);
    if (--counts[block] == 0) {
      removeBlock(place);
      return;
    }
    firsts[place] = fences[block * BLOCK];
    if (!joinNext(place) && place > 0) {
      joinNext(place - 1);
    }
  }

  /**
   * Joins a block with the next one if both together fill at most half a block; returns whether it
   * did.
   */
  private boolean joinNext(int place) {
    if (place + 1 >= blocks) {
      return false;
    }
    int block = directory[place];
    int next = directory[place + 1];
    if (counts[block] + counts[next] > BLOCK / 2) {
      return false;
    }
    int end = block * BLOCK + counts[block];
    System.arraycopy(fences, next * BLOCK, fences, end, counts[next]);
    System.arraycopy(frames, next * BLOCK, frames, end, counts[next]);
    counts[block] += counts[next];
    removeBlock(place + 1);
    return true;
  }

  /** Removes all fences. */
  void clear() {
    while (blocks > 0) {
      removeBlock(blocks - 1);
    }
  }

  /**
   * Returns the directory index of the block that can hold a key, -1 if the key is below the first
   * block.
   */
  private int placeOf(long key) {
    return floor(firsts, 0, Math.min(blocks, firsts.length), key);
  }

  private int at(int block, long key) {
    return floor(fences, block * BLOCK, Math.clamp(counts[block], 0, BLOCK), key);
  }

  /**
   * Returns the index of the last of {@code count} fences at or below a key, -1 if there is none.
   */
  private static int floor(long[] ascending, int start, int count, long key) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ascending[start + middle] <= key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  private void split(int place) {
    int block = directory[place];
    int from = block * BLOCK + BLOCK / 2;
    addBlock(place + 1, fences[from]);
    int added = directory[place + 1];
    System.arraycopy(fences, from, fences, added * BLOCK, BLOCK / 2);
    System.arraycopy(frames, from, frames, added * BLOCK, BLOCK / 2);
    counts[added] = BLOCK / 2;
    counts[block] = BLOCK / 2;
  }

  private void addBlock(int place, long first) {
    int moved = blocks - place;
    System.arraycopy(directory, place, directory, place + 1, moved);
    System.arraycopy(firsts, place, firsts, place + 1, moved);
    directory[place] = spare[--spares];
    counts[directory[place]] = 0;
    firsts[place] = first;
    blocks++;
  }

  private void removeBlock(int place) {
    int block = directory[place];
    counts[block] = 0;
    spare[spares++] = block;
    int moved = blocks - place - 1;
    System.arraycopy(directory, place + 1, directory, place, moved);
    System.arraycopy(firsts, place + 1, firsts, place, moved);
    blocks--;
  }
}
