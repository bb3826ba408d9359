package pando.index.pool;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.IndexOptions;
import pando.index.Partitioning;
import pando.index.session.Retry;

/**
 * The index's well-known words, at the start of memory server 0.
 *
 * <pre>
 *    64  format        system 32 | node size 32; 0 if there is no index
 *   128  root          address of the root | its level in the 6 low bits; ORCA: of a table of roots
 *   192  lock          0, or the holder, which changes the partition table ({@link ChangeLock})
 *   256  partitions    epoch 8 | ranges 8 | checksum 8 | beside 8 | (low 8, owner 8) for each range
 *  2048  drains        of DEFT: how its compute servers agree to reset locks
 *  3072  epochs        by which compute servers agree when freed places may be used again
 * </pre>
 *
 * <p>The partition table is longer than what a READ transfers atomically; its checksum detects a
 * torn READ. What lies over the index keeps a word beside it.
 */
public final class Catalogue {
  private static final long FORMAT = GlobalAddress.of(0, 64);
  private static final long ROOT = GlobalAddress.of(0, 128);
  static final long LOCK = GlobalAddress.of(0, 192);
  private static final long PARTITIONS = GlobalAddress.of(0, 256);

  /** Where DEFT's compute servers agree to reset locks. */
  public static final long DRAINS = GlobalAddress.of(0, 2048);

  /** Where compute servers agree when freed places may be used again. */
  public static final long EPOCHS = GlobalAddress.of(0, 3072);

  /** Least level in a root pointer; also in one that does not point to the root of a tree. */
  public static final int ROOT_LEVEL_MIN = 1;

  /** Maximum number of levels of a tree. */
  public static final int LEVELS_MAX = 32;

  private static final long LEVEL_MASK = 63;
  private static final int CHECKSUM_WORD = 2;
  private static final int BESIDE_WORD = 3;
  private static final int HEADER_WORDS = 4;
  private static final int TABLE_BYTES =
      (HEADER_WORDS + 2 * IndexOptions.COMPUTE_SERVERS_MAX) * Long.BYTES;
  private static final int ATTEMPTS_MAX = 10_000;
  private final Worker worker;
  private final MemorySegment memory;
  private final long buffer;
  private final NodePlaces places;
  private final long format;

  /** The word beside the table that was read last. */
  private long beside;

  /**
   * Creates a view for one worker.
   *
   * @param buffer local offset of {@link Worker#CALL_BYTES_MAX} bytes
   * @param places checks the address of a root
   * @param system number of the index's system, 32 bits
   */
  public Catalogue(Worker worker, long buffer, NodePlaces places, int system) {
    this.worker = worker;
    this.places = places;
    this.format = (long) system << 32;
    this.memory = worker.memory();
    this.buffer = buffer;
  }

  /**
   * Checks that the pool holds no index.
   *
   * @throws IllegalStateException if it holds one, of any system
   */
  public void checkUnclaimed() {
    if (readWord(FORMAT) != 0) {
      throw new IllegalStateException(
          "the pool holds an index already: use another pool, or join it (IndexOptions.join);"
              + " processes that share a map open client:HOST:PORT of a compute server instead"
              + " (pando serve-clients)");
    }
  }

  /**
   * Marks the pool, which holds no index yet, as holding one that can be joined. The caller holds
   * the lock of the partition table.
   */
  public void claim(int nodeBytes) {
    Retry.untilDone(worker, () -> worker.cas(FORMAT, 0, format | nodeBytes));
  }

  /**
   * Checks that the pool holds an index that can be joined.
   *
   * @param kind name of the system, for the message
   * @throws IllegalStateException if it holds no index of this system and node size
   */
  public void checkClaimed(int nodeBytes, String kind) {
    long word = readWord(FORMAT);
    int found = (word & ~0xFFFF_FFFFL) == format ? (int) word : 0;
    if (found != nodeBytes) {
      throw new IllegalStateException(
          "the pool holds no such index: kind=%s, nodeBytes=%s, found=%s"
              .formatted(kind, nodeBytes, found));
    }
  }

  /**
   * Returns the root pointer; {@link #rootAddress} and {@link #rootLevel} return its parts.
   *
   * @throws CorruptNodeException if it does not point to a legal place of a root
   */
  public long root() {
    long root = readWord(ROOT);
    int level = rootLevel(root);
    if (level < ROOT_LEVEL_MIN || level >= LEVELS_MAX || !places.isNodeAddress(rootAddress(root))) {
      throw new CorruptNodeException(ROOT, "no root pointer: root=0x" + Long.toHexString(root));
    }
    return root;
  }

  /**
   * Replaces the root by CAS.
   *
   * @param expected root pointer
   * @param address of the new root
   * @param level of the new root, at least {@value #ROOT_LEVEL_MIN}
   * @return whether the root was the expected one, so that it was replaced
   */
  public boolean replaceRoot(long expected, long address, int level) {
    return worker.cas(ROOT, expected, address | level) == expected;
  }

  /**
   * Replaces a tree by one that was loaded. No session may change the old tree meanwhile. If the
   * process dies before the end, there is no legal partition table, rather than one that does not
   * match the root.
   */
  public void swap(long before, long root, Partitioning partitioning) {
    if (root() != before) {
      throw new CorruptNodeException(ROOT, "the root pointer changed under the partitions' lock");
    }
    begin(root, partitioning);
  }

  /** Stores the root and the partition table; overwrites those before, if any. */
  public void begin(long root, Partitioning partitioning) {
    setRoot(root);
    writePartitioning(partitioning, 0);
  }

  /** Stores the root. No process can read the partition table until it is written again. */
  public void setRoot(long root) {
    Retry.untilDone(worker, this::eraseChecksum);
    Retry.untilDone(worker, () -> writeWord(ROOT, root));
  }

  /** Makes the checksum of the partition table wrong, so that no process reads the table. */
  private void eraseChecksum() {
    writeWord(PARTITIONS + CHECKSUM_WORD * Long.BYTES, 0);
  }

  /** Returns the address in a root pointer. */
  public static long rootAddress(long root) {
    return root & ~LEVEL_MASK;
  }

  /** Returns the level in a root pointer. */
  public static int rootLevel(long root) {
    return (int) (root & LEVEL_MASK);
  }

  /**
   * Stores the partition table. The caller holds its lock.
   *
   * @param beside the word beside it
   */
  public void writePartitioning(Partitioning partitioning, long beside) {
    int ranges = partitioning.servers();
    set(0, partitioning.epoch());
    set(1, ranges);
    set(BESIDE_WORD, beside);
    for (int range = 0; range < ranges; range++) {
      set(HEADER_WORDS + 2 * range, partitioning.lowOfRange(range));
      set(HEADER_WORDS + 2 * range + 1, partitioning.ownerOfRange(range));
    }
    set(CHECKSUM_WORD, checksum(ranges));
    int bytes = (HEADER_WORDS + 2 * ranges) * Long.BYTES;
    Retry.untilDone(worker, () -> worker.write(PARTITIONS, buffer, bytes));
  }

  /**
   * Returns the partition table.
   *
   * @throws StalledException if the table does not match its checksum in any attempt
   * @throws CorruptNodeException if the table matches its checksum, but is not legal
   */
  public Partitioning readPartitioning() {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      worker.read(PARTITIONS, buffer, TABLE_BYTES);
      long ranges = get(1);
      if (ranges >= 1
          && ranges <= IndexOptions.COMPUTE_SERVERS_MAX
          && get(CHECKSUM_WORD) == checksum((int) ranges)) {
        beside = get(BESIDE_WORD);
        return decode((int) ranges);
      }
      worker.backoff().pause(attempt);
    }
    throw new StalledException(
        "the partition table does not match its checksum: ranges=%s, attempts=%s"
            .formatted(get(1), ATTEMPTS_MAX));
  }

  /** Returns the word beside the partition table that was read last, 0 before. */
  public long beside() {
    return beside;
  }

  private Partitioning decode(int ranges) {
    long[] lows = new long[ranges];
    int[] owners = new int[ranges];
    for (int range = 0; range < ranges; range++) {
      lows[range] = get(HEADER_WORDS + 2 * range);
      owners[range] = (int) get(HEADER_WORDS + 2 * range + 1);
    }
    try {
      return new Partitioning(get(0), lows, owners);
    } catch (IllegalArgumentException e) {
      throw new CorruptNodeException(PARTITIONS, "no partition table: " + e.getMessage());
    }
  }

  private long checksum(int ranges) {
    long sum = mix(get(0)) ^ mix(~get(1));
    for (int word = BESIDE_WORD; word < HEADER_WORDS + 2 * ranges; word++) {
      sum = mix(sum ^ get(word));
    }
    return sum;
  }

  private static long mix(long value) {
    long z = (value + 0x9E3779B97F4A7C15L) * 0xBF58476D1CE4E5B9L;
    return z ^ (z >>> 29);
  }

  private long readWord(long address) {
    worker.read(address, buffer, Long.BYTES);
    return Words.get(memory, buffer);
  }

  private void writeWord(long address, long value) {
    Words.set(memory, buffer, value);
    worker.write(address, buffer, Long.BYTES);
  }

  private long get(int word) {
    return Words.get(memory, buffer + (long) word * Long.BYTES);
  }

  private void set(int word, long value) {
    Words.set(memory, buffer + (long) word * Long.BYTES, value);
  }
}
