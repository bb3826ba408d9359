package pando.journal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;

/**
 * The bytes of a file, twice: as programs see them, and as they are on the disk. A page is dirty if
 * the two differ, so stores into a mapping need not be told. Not thread-safe, except for those
 * stores.
 */
final class FaultyFile {
  static final int PAGE = 4096;
  static final int SECTOR = 512;

  /** What programs see, in whole pages; behind the length are zeros. */
  private MemorySegment seen;

  private long length;

  /** Mappings that are open: while there are some, the file cannot grow. */
  private int mappings;

  /** What is on the disk, in whole pages; what is behind the length does not count. */
  private byte[] kept = new byte[PAGE];

  private long keptLength;

  /**
   * Pages whose force failed, as they were then. The kernel takes them for clean: until somebody
   * changes them, they are never written again.
   */
  private final Map<Integer, byte[]> lost = new HashMap<>();

  FaultyFile() {
    this(0);
  }

  /** Creates a file of so many zeros. */
  private FaultyFile(long length) {
    this.seen = memory(length);
    this.length = length;
  }

  private static MemorySegment memory(long bytes) {
    return Arena.ofAuto().allocate(Math.ceilDiv(bytes, PAGE) * (long) PAGE, PAGE);
  }

  long bytes() {
    return length;
  }

  /** Takes all bytes away; who has mapped them goes on with memory of its own. */
  void truncate() {
    seen = memory(0);
    length = 0;
    mappings = 0;
  }

  int read(long at, ByteBuffer into) {
    int count = Math.clamp(length - at, 0, into.remaining());
    if (count > 0) {
      into.put(seen.asSlice(at, count).asByteBuffer());
    }
    return count;
  }

  void write(long at, ByteBuffer from) {
    int count = from.remaining();
    grow(at + count);
    MemorySegment.copy(MemorySegment.ofBuffer(from), 0, seen, at, count);
    from.position(from.limit());
  }

  private void grow(long bytes) {
    if (bytes > seen.byteSize()) {
      if (mappings > 0) {
        throw new IllegalStateException("a file grows behind its mapping: bytes=" + bytes);
      }
      MemorySegment more = memory(Math.max(bytes, 2 * length));
      MemorySegment.copy(seen, 0, more, 0, length);
      seen = more;
    }
    length = Math.max(length, bytes);
  }

  MemorySegment map() {
    mappings++;
    return seen.asSlice(0, length);
  }

  /** Ends so many mappings. */
  void unmap(int count) {
    mappings = Math.max(mappings - count, 0);
  }

  /** Has all that is seen on the disk, except for pages that a failed force has lost. */
  void force() {
    for (int page : dirty()) {
      keep(page);
    }
    keptLength = length;
  }

  /** Fails to have it on the disk. */
  void loseForce() {
    for (int page : dirty()) {
      lost.put(page, page(page));
    }
  }

  /** Has some of it on the disk, as the kernel may at any time. */
  void writeBack(RandomGenerator random) {
    for (int page : dirty()) {
      if (random.nextBoolean()) {
        keep(page);
      }
    }
    keptLength = random.nextBoolean() ? length : keptLength;
  }

  private void keep(int page) {
    byte[] bytes = page(page);
    if (!Arrays.equals(bytes, lost.get(page))) {
      lost.remove(page);
      kept = placed(kept, bytes, page);
    }
  }

  /** Lays a page among others; returns them, which are more if it was behind their end. */
  private static byte[] placed(byte[] pages, byte[] bytes, int page) {
    int end = (page + 1) * PAGE;
    byte[] all = end > pages.length ? Arrays.copyOf(pages, Math.max(end, 2 * pages.length)) : pages;
    System.arraycopy(bytes, 0, all, page * PAGE, PAGE);
    return all;
  }

  /** Returns what is seen of a page. */
  private byte[] page(int page) {
    byte[] bytes = new byte[PAGE];
    long from = (long) page * PAGE;
    int count = Math.clamp(length - from, 0, PAGE);
    if (count > 0) {
      MemorySegment.copy(seen, from, MemorySegment.ofArray(bytes), 0, count);
    }
    return bytes;
  }

  private byte[] keptPage(int page) {
    int from = page * PAGE;
    return from < kept.length ? Arrays.copyOfRange(kept, from, from + PAGE) : new byte[PAGE];
  }

  /** Returns the pages whose bytes are not those of the disk. */
  private int[] dirty() {
    int pages = Math.toIntExact(Math.ceilDiv(Math.max(length, keptLength), PAGE));
    int[] dirty = new int[pages];
    int count = 0;
    for (int page = 0; page < pages; page++) {
      if (isDirty(page)) {
        dirty[count++] = page;
      }
    }
    return Arrays.copyOf(dirty, count);
  }

  private boolean isDirty(int page) {
    long from = (long) page * PAGE;
    long end = from + PAGE;
    if (end > Math.min(length, kept.length)) {
      return !Arrays.equals(page(page), keptPage(page));
    }
    return MemorySegment.mismatch(seen, from, end, MemorySegment.ofArray(kept), from, end) >= 0;
  }

  /** Returns the same file, of which another process has nothing mapped. */
  FaultyFile copy() {
    FaultyFile copy = new FaultyFile(length);
    MemorySegment.copy(seen, 0, copy.seen, 0, length);
    copy.kept = kept.clone();
    copy.keptLength = keptLength;
    copy.lost.putAll(lost);
    return copy;
  }

  /** Returns what a crash leaves of it; all of that is on the disk. */
  FaultyFile crash(RandomGenerator random) {
    Luck luck = Luck.draw(random);
    byte[] pages = kept.clone();
    for (int page : dirty()) {
      pages = placed(pages, torn(keptPage(page), page(page), luck, random), page);
    }
    FaultyFile left = new FaultyFile(lengthLeft(luck, random));
    left.kept = pages;
    left.keptLength = left.length;
    left.clearBehind();
    int count = (int) Math.min(left.keptLength, left.kept.length);
    MemorySegment.copy(MemorySegment.ofArray(left.kept), 0, left.seen, 0, count);
    return left;
  }

  private void clearBehind() {
    if (keptLength < kept.length) {
      Arrays.fill(kept, (int) keptLength, kept.length, (byte) 0);
    }
  }

  private static byte[] torn(byte[] before, byte[] after, Luck luck, RandomGenerator random) {
    if (luck != Luck.SOME || random.nextBoolean()) {
      return luck.keeps(random) ? after : before;
    }
    for (int at = 0; at < PAGE; at += SECTOR) {
      if (random.nextBoolean()) {
        System.arraycopy(after, at, before, at, SECTOR);
      }
    }
    return before;
  }

  private long lengthLeft(Luck luck, RandomGenerator random) {
    if (luck == Luck.SOME && length > keptLength && random.nextInt(4) == 0) {
      return random.nextLong(keptLength, length + 1);
    }
    return luck.keeps(random) ? length : keptLength;
  }
}
