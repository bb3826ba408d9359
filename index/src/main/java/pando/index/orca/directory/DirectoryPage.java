package pando.index.orca.directory;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Words;
import pando.index.pool.Checksums;

/**
 * The bytes of a directory page, 1 KB: it covers the keys {@code low} to {@code high}, both
 * inclusive, and names its children, which are leaves for a page of level 0 and pages of one level
 * below for others.
 *
 * <pre>
 *   0        4        5       6   8       16      24       32           36  40      48      64
 *  +--------+--------+-------+---+-------+--------+-------+-----------+---+-------+--------+
 *  | magic  | level  | count | 0 | low   | high   | stamp | partition | 0 | sum   | 0      |
 *  +--------+--------+-------+---+-------+--------+-------+-----------+---+-------+--------+
 *  | separator 0 | separator 1 | ... separator 59 (at 64)                                  |
 *  +---------------------------------------------------------------------------------------+
 *  | pointer 0   | pointer 1   | ... pointer 59 (at 544)                                   |
 *  +---------------------------------------------------------------------------------------+
 * </pre>
 *
 * <p>A separator is the low fence of a child; the first equals {@code low}. A pointer is a {@link
 * LeafPointer}. Separators and pointers behind the count are zero.
 *
 * <p>The sum covers all but itself and the pointers. A page is written once; afterwards only
 * pointers of level 0 change, each by a WRITE of 8 bytes.
 */
public final class DirectoryPage {
  /** Bytes of a page. */
  public static final int BYTES = 1024;

  /** Alignment of a page in bytes. */
  public static final int ALIGNMENT = 64;

  /** Greatest number of children of a page. */
  public static final int CAPACITY = 60;

  private static final int MAGIC = 0x6FCAD19A;

  private static final int LEVEL_SHIFT = 32;
  private static final int COUNT_SHIFT = 40;
  private static final int UNUSED_SHIFT = 48;
  private static final int BYTE_MASK = 0xFF;

  private static final int LOW = 8;
  private static final int HIGH = 16;
  private static final int STAMP = 24;
  private static final int PARTITION = 32;
  private static final int SUM = 40;
  private static final int UNUSED = 48;
  private static final int SEPARATORS = 64;
  private static final int POINTERS = SEPARATORS + CAPACITY * Long.BYTES;

  private static final long[] MULTIPLIERS = Checksums.multipliers(POINTERS / Long.BYTES);

  static {
    if (POINTERS + CAPACITY * Long.BYTES != BYTES) {
      throw new AssertionError("a page is not filled: pointers=" + POINTERS);
    }
  }

  private DirectoryPage() {}

  /** Makes a page without children. {@link #append} adds them, then {@link #seal} ends it. */
  public static void format(
      MemorySegment memory, long at, int level, long low, long high, long stamp, int partition) {
    for (int position = 0; position < BYTES; position += Long.BYTES) {
      setWord(memory, at + position, 0);
    }
    setWord(memory, at, Integer.toUnsignedLong(MAGIC) | (long) level << LEVEL_SHIFT);
    setWord(memory, at + LOW, low);
    setWord(memory, at + HIGH, high);
    setWord(memory, at + STAMP, stamp);
    setWord(memory, at + PARTITION, Integer.toUnsignedLong(partition));
  }

  /**
   * Adds a child behind the last one of a page that is not full.
   *
   * @param separator low fence of the child
   * @param pointer a {@link LeafPointer}
   */
  public static void append(MemorySegment memory, long at, long separator, long pointer) {
    int count = count(memory, at);
    if (count >= CAPACITY) {
      throw new IllegalArgumentException(
          "the page is full: count=" + count + ", separator=" + separator);
    }
    setWord(memory, separatorAt(at, count), separator);
    setPointer(memory, at, count, pointer);
    setWord(memory, at, word(memory, at) + (1L << COUNT_SHIFT));
  }

  /** Stores the sum, when all children are there. */
  public static void seal(MemorySegment memory, long at) {
    setWord(memory, at + SUM, sum(memory, at));
  }

  private static long sum(MemorySegment memory, long at) {
    return Checksums.sum(memory, at, 0, SUM, MULTIPLIERS)
        + Checksums.sum(memory, at, UNUSED, POINTERS, MULTIPLIERS);
  }

  // These methods check nothing; problem() does.

  /** Returns the level, 0 for a page whose children are leaves. */
  public static int level(MemorySegment memory, long at) {
    return (int) (word(memory, at) >>> LEVEL_SHIFT) & BYTE_MASK;
  }

  /** Returns the number of children. */
  public static int count(MemorySegment memory, long at) {
    return (int) (word(memory, at) >>> COUNT_SHIFT) & BYTE_MASK;
  }

  /** Returns the least key that the page covers. */
  public static long low(MemorySegment memory, long at) {
    return word(memory, at + LOW);
  }

  /** Returns the greatest key that the page covers. */
  public static long high(MemorySegment memory, long at) {
    return word(memory, at + HIGH);
  }

  /** Returns the stamp, which no two pages share. */
  public static long stamp(MemorySegment memory, long at) {
    return word(memory, at + STAMP);
  }

  /** Returns the partition. */
  public static int partition(MemorySegment memory, long at) {
    return (int) word(memory, at + PARTITION);
  }

  /** Returns the low fence of a child. */
  public static long separator(MemorySegment memory, long at, int child) {
    return word(memory, separatorAt(at, child));
  }

  /** Returns the pointer to a child. */
  public static long pointer(MemorySegment memory, long at, int child) {
    return word(memory, at + pointerPosition(child));
  }

  /** Replaces the pointer to a child. */
  public static void setPointer(MemorySegment memory, long at, int child, long pointer) {
    setWord(memory, at + pointerPosition(child), pointer);
  }

  /** Returns the offset in a page of the pointer to a child. */
  public static int pointerPosition(int child) {
    return POINTERS + child * Long.BYTES;
  }

  /**
   * Returns what is wrong with a page that was READ, or null if it is sound and the expected one:
   * then it has 1 to {@link #CAPACITY} children, and its separators ascend from its low fence on.
   * Pointers are not looked at: {@link LeafPointer#problem} checks each before it is followed.
   *
   * @param level level that the page must have
   * @param low low fence that it must have
   * @param high high fence that it must have
   * @param partition partition that it must be of
   */
  public static @Nullable String problem(
      MemorySegment memory, long at, int level, long low, long high, int partition) {
    long first = word(memory, at);
    int count = count(memory, at);
    if ((int) first != MAGIC || first >>> UNUSED_SHIFT != 0) {
      return "not a directory page: firstWord=0x" + Long.toHexString(first);
    }
    if (word(memory, at + SUM) != sum(memory, at)) {
      return "wrong sum: stored=0x"
          + Long.toHexString(word(memory, at + SUM))
          + ", computed=0x"
          + Long.toHexString(sum(memory, at));
    }
    if (level(memory, at) != level
        || low(memory, at) != low
        || high(memory, at) != high
        || word(memory, at + PARTITION) != Integer.toUnsignedLong(partition)) {
      return "another page"
          + identity(level(memory, at), low(memory, at), high(memory, at), partition(memory, at))
          + "; expected"
          + identity(level, low, high, partition);
    }
    if (word(memory, at + UNUSED) != 0 || word(memory, at + UNUSED + Long.BYTES) != 0) {
      return "unused bytes are not zero";
    }
    if (count < 1 || count > CAPACITY) {
      return "no such number of children: count=" + count;
    }
    return separatorsProblem(memory, at, count, low, high);
  }

  private static @Nullable String separatorsProblem(
      MemorySegment memory, long at, int count, long low, long high) {
    if (separator(memory, at, 0) != low || separator(memory, at, count - 1) > high) {
      return "separators beyond the fences: first="
          + separator(memory, at, 0)
          + ", last="
          + separator(memory, at, count - 1)
          + identity(level(memory, at), low, high, partition(memory, at));
    }
    for (int child = 1; child < count; child++) {
      if (separator(memory, at, child) <= separator(memory, at, child - 1)) {
        return "separators do not ascend: child="
            + child
            + ", separator="
            + separator(memory, at, child)
            + ", before="
            + separator(memory, at, child - 1);
      }
    }
    for (int child = count; child < CAPACITY; child++) {
      if (separator(memory, at, child) != 0) {
        return "a separator behind the last is not zero: child=" + child + ", count=" + count;
      }
    }
    return null;
  }

  private static String identity(int level, long low, long high, int partition) {
    return ": level=" + level + ", low=" + low + ", high=" + high + ", partition=" + partition;
  }

  private static long separatorAt(long at, int child) {
    return at + SEPARATORS + (long) child * Long.BYTES;
  }

  private static long word(MemorySegment memory, long position) {
    return Words.getUnaligned(memory, position);
  }

  private static void setWord(MemorySegment memory, long position, long word) {
    Words.setUnaligned(memory, position, word);
  }
}
