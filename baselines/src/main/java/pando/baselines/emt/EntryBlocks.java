package pando.baselines.emt;

import java.util.ArrayList;
import java.util.List;

/** Entries in the order in which they were added, in local memory: 16 bytes each. */
final class EntryBlocks {
  private static final int BLOCK_BITS = 14;
  private static final int BLOCK = 1 << BLOCK_BITS;

  private final List<long[]> keys = new ArrayList<>();
  private final List<long[]> values = new ArrayList<>();
  private long count;

  void add(long key, long value) {
    int at = (int) count & (BLOCK - 1);
    if (at == 0) {
      keys.add(new long[BLOCK]);
      values.add(new long[BLOCK]);
    }
    keys.getLast()[at] = key;
    values.getLast()[at] = value;
    count++;
  }

  long count() {
    return count;
  }

  long key(long number) {
    return keys.get((int) (number >>> BLOCK_BITS))[(int) number & (BLOCK - 1)];
  }

  long value(long number) {
    return values.get((int) (number >>> BLOCK_BITS))[(int) number & (BLOCK - 1)];
  }
}
