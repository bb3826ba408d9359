package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import pando.fabric.memory.Fields;

/**
 * A part of the cache of records: a table by hash, and a log of records, oldest first, which goes
 * round in a ring. Thread-safe where a method does not say that the latch must be held.
 */
final class RecordPart {
  /*
   * The memory
   * ==========
   *
   *   table   chains: place of its first record 4            in units of 8 bytes, 0: none
   *                   used 1                                 8 bits, each for an eighth of the hashes
   *           zeros to a multiple of 8
   *   log     records: next 4 | hash 4 | key 4 | value 4 | key | value | to a multiple of 8
   *
   * A value of length -1 is the word of a blob. Places count from the start of the table, so that
   * none is 0. Records of a chain are in no order.
   *
   *   ring      ____free____[oldest ....... newest]____free____
   *                         head                  tail
   *   or        ..... newest]____free____[oldest ....... | unused
   *                         tail         head            end
   *
   * A new record goes to the tail. Where it has no room, the oldest goes, unless it was used since
   * it came to its place: then it moves to the tail. A record that is dropped stays as bytes
   * without a chain until its turn: its hash is gone, and DEAD is in place of next.
   *
   * Reads are optimistic: the latch is a version that is odd while it is held. A reader follows
   * places that may be anything while somebody changes the part; it compares each with the memory's
   * bounds, follows a number of them at the most, and believes what it has copied only if the
   * version is still the same. A reader never waits: where the part is latched, the key counts as
   * not cached. A hit writes only its bit of `used`, if that is not set, which is a byte of its own,
   * in the same line of the processor's cache as the chain: a late store there does no more than
   * keep another record for a turn.
   *
   * Coherence. A change of a record holds the part's latch while it sets the state of the block in
   * the directory and puts the new value here, or drops the record. A reader that has READ a record
   * puts it here only if, under the latch, the block's state is still that which it READ. So the
   * record here is that of the block that the directory names, at any time when the latch is free.
   */

  /** Size of a part at the most, as places have 4 bytes. */
  static final long BYTES_MAX = 1L << 34;

  private static final int UNIT = 8;

  /** The table has a chain for so many bytes. */
  private static final int CHAIN_PART = 64;

  private static final int CHAIN_BYTES = 5;
  private static final int USED = 4;
  private static final int HASH = 4;
  private static final int KEY_BYTES = 8;
  private static final int VALUE_BYTES = 12;
  private static final int RECORD = 16;
  private static final int BLOB = -1;

  /** In place of the next record's place: the record is in no chain. */
  private static final int DEAD = -1;

  /** A record takes at the most one of so many bytes of the log. */
  private static final int RECORD_PART = 8;

  private static final int RECORD_BYTES_MAX = 64 << 10;

  /** Records that move to the tail before one goes although it was used. */
  private static final int MOVES_MAX = 16;

  private static final int STEPS_MAX = 256;

  private static final VarHandle VERSION =
      Fields.handle(MethodHandles.lookup(), "version", long.class);

  private final MemorySegment memory;
  private final int chainMask;

  private final long log;
  private final long end;
  private final int recordBytesMax;

  private volatile long version;
  private long head;
  private long tail;

  /** Where the oldest records end that are at the memory's end. */
  private long wrap;

  private boolean empty = true;

  private final Runnable onFull;

  /** Whether all of the log was used, since it was empty. */
  private boolean wasFull;

  /**
   * Creates an empty part.
   *
   * @param memory zeros, a multiple of 8 bytes
   * @param onFull what to do when all of it is used for the first time
   */
  RecordPart(MemorySegment memory, Runnable onFull) {
    this.memory = memory;
    this.onFull = onFull;
    int chains = (int) Math.max(Long.highestOneBit(memory.byteSize() / CHAIN_PART), 1);
    this.chainMask = chains - 1;
    this.log = Block.padded((long) chains * CHAIN_BYTES);
    this.end = memory.byteSize();
    this.recordBytesMax = Math.clamp((end - log) / RECORD_PART, 0, RECORD_BYTES_MAX);
    this.head = log;
    this.tail = log;
    this.wrap = end;
  }

  long bytes() {
    return memory.byteSize();
  }

  /** Returns about how many bytes are used, or have been since it was empty. */
  long usedBytes() {
    return empty ? 0 : wasFull ? bytes() : tail;
  }

  /** Returns whether a record of so many bytes is cached. */
  boolean takes(long keyBytes, long valueBytes) {
    return RECORD + keyBytes + valueBytes + UNIT <= recordBytesMax;
  }

  /** Finds the value of a key; may miss one that is here while the part is changed. */
  boolean find(long hash, MemorySegment key, ByteRecordCache.Found found) {
    long seen = version;
    if ((seen & 1) != 0 || recordBytesMax == 0) {
      return false;
    }
    int place = memory.get(Block.INT, chain(hash));
    for (int step = 0; place != 0 && step < STEPS_MAX; step++) {
      long record = record(place);
      if (record < log || record > end - RECORD) {
        return false;
      }
      if (isOf(record, hash, key) && copy(record, found)) {
        VarHandle.acquireFence();
        if (version != seen) {
          return false;
        }
        use(hash);
        return true;
      }
      place = memory.get(Block.INT, record);
    }
    return false;
  }

  /** Returns the place of the first record of a chain, 0 if there is none. */
  int first(long hash) {
    return recordBytesMax == 0 ? 0 : memory.get(Block.INT, chain(hash));
  }

  /** Reads a word of a record, if there is one at a place; it may be any by now. */
  long touch(int place) {
    long record = record(place);
    return record < log || record > end - RECORD ? 0 : memory.get(Block.INT, record + KEY_BYTES);
  }

  private static long record(int place) {
    return (place & 0xffff_ffffL) * UNIT;
  }

  private static int place(long record) {
    return (int) (record / UNIT);
  }

  private long chain(long hash) {
    return ((int) hash & chainMask) * (long) CHAIN_BYTES;
  }

  private static int stored(long hash) {
    return (int) hash;
  }

  private boolean isOf(long record, long hash, MemorySegment key) {
    if (memory.get(Block.INT, record + HASH) != stored(hash)
        || memory.get(Block.INT, record + KEY_BYTES) != key.byteSize()) {
      return false;
    }
    long keyEnd = record + RECORD + key.byteSize();
    return keyEnd <= end
        && MemorySegment.mismatch(memory, record + RECORD, keyEnd, key, 0, key.byteSize()) < 0;
  }

  private boolean copy(long record, ByteRecordCache.Found found) {
    int length = memory.get(Block.INT, record + VALUE_BYTES);
    int stored = length == BLOB ? Long.BYTES : length;
    long at = record + RECORD + memory.get(Block.INT, record + KEY_BYTES);
    if (stored < 0 || stored > recordBytesMax || at < record || at > end - stored) {
      return false;
    }
    found.copy(memory, at, stored, length == BLOB);
    return true;
  }

  private void use(long hash) {
    long at = mark(hash);
    byte marks = memory.get(JAVA_BYTE, at);
    int bit = bit(hash);
    if ((marks & bit) == 0) {
      memory.set(JAVA_BYTE, at, (byte) (marks | bit));
    }
  }

  private long mark(long hash) {
    return chain(hash) + USED;
  }

  private static int bit(long hash) {
    return 1 << ((int) (hash >>> (Integer.SIZE - 3)) & 7);
  }

  boolean tryLatch() {
    long seen = version;
    if ((seen & 1) != 0 || !VERSION.compareAndSet(this, seen, seen + 1)) {
      return false;
    }
    VarHandle.storeStoreFence();
    return true;
  }

  /** Unlatches; the latch must be held. */
  void unlatch() {
    VERSION.setRelease(this, version + 1);
  }

  /**
   * Puts a record here in place of another one of its key, with its value, or else with the word of
   * its blob; drops that one if records of this size are not cached. The latch must be held.
   *
   * @param word of the blob that has the value too, 0 if there is none
   */
  void put(long hash, MemorySegment key, MemorySegment value, long word) {
    long valueBytes = value.byteSize();
    if (takes(key.byteSize(), valueBytes)) {
      put(hash, key, value, 0, (int) valueBytes);
    } else if (word != 0 && takes(key.byteSize(), Long.BYTES)) {
      putWord(hash, key, word);
    } else {
      remove(hash, key);
    }
  }

  /** Puts a record with its value here, whose size is cached. The latch must be held. */
  void put(long hash, MemorySegment key, MemorySegment from, long at, int valueBytes) {
    long value = place(hash, key, valueBytes);
    MemorySegment.copy(from, at, memory, value, valueBytes);
  }

  /** Puts a record with the word of its blob here, whose size is cached. The latch must be held. */
  void putWord(long hash, MemorySegment key, long word) {
    memory.set(Block.LONG, place(hash, key, BLOB), word);
  }

  /**
   * Makes a place for a record; returns where its value goes.
   *
   * @param length of the value, or {@link #BLOB}
   */
  private long place(long hash, MemorySegment key, int length) {
    int keyBytes = (int) key.byteSize();
    int before = place(hash, key);
    if (before != 0) {
      long record = record(before);
      if (memory.get(Block.INT, record + VALUE_BYTES) == length) {
        return record + RECORD + keyBytes;
      }
      drop(before);
    }
    long record = room(recordBytes(keyBytes, length));
    memory.set(Block.INT, record + HASH, stored(hash));
    memory.set(Block.INT, record + KEY_BYTES, keyBytes);
    memory.set(Block.INT, record + VALUE_BYTES, length);
    MemorySegment.copy(key, 0, memory, record + RECORD, keyBytes);
    link(hash, record);
    return record + RECORD + keyBytes;
  }

  private void link(long hash, long record) {
    long chain = chain(hash);
    memory.set(Block.INT, record, memory.get(Block.INT, chain));
    memory.set(Block.INT, chain, place(record));
  }

  /** Drops all records. The latch must be held. */
  void clear() {
    memory.asSlice(0, Math.min(log, end)).fill((byte) 0);
    empty = true;
    wasFull = false;
  }

  /** Drops the record of a key, if it is here. The latch must be held. */
  void remove(long hash, MemorySegment key) {
    int place = recordBytesMax == 0 ? 0 : place(hash, key);
    if (place != 0) {
      drop(place);
    }
  }

  private int place(long hash, MemorySegment key) {
    int place = memory.get(Block.INT, chain(hash));
    while (place != 0 && !isOf(record(place), hash, key)) {
      place = memory.get(Block.INT, record(place));
    }
    return place;
  }

  /** Takes a record out of its chain. */
  private void drop(int place) {
    long record = record(place);
    long link = chain(memory.get(Block.INT, record + HASH));
    while (memory.get(Block.INT, link) != place) {
      link = record(memory.get(Block.INT, link));
    }
    memory.set(Block.INT, link, memory.get(Block.INT, record));
    memory.set(Block.INT, record, DEAD);
  }

  private long recordBytes(long record) {
    return recordBytes(
        memory.get(Block.INT, record + KEY_BYTES), memory.get(Block.INT, record + VALUE_BYTES));
  }

  private static long recordBytes(int keyBytes, int length) {
    return Block.padded(RECORD + (long) keyBytes + (length == BLOB ? Long.BYTES : length));
  }

  /** Makes room at the tail; returns where it is. */
  private long room(long bytes) {
    for (int moves = 0; !hasRoom(bytes); ) {
      long oldest = head;
      long size = recordBytes(oldest);
      head += size;
      empty = head == tail;
      if (head == wrap && !empty) {
        head = log;
        wrap = end;
      }
      if (memory.get(Block.INT, oldest) != DEAD) {
        int hash = memory.get(Block.INT, oldest + HASH);
        drop(place(oldest));
        if (wasUsed(hash) && moves < MOVES_MAX && hasRoom(size)) {
          moves++;
          long moved = take(size);
          MemorySegment.copy(memory, oldest, memory, moved, size);
          link(hash, moved);
        }
      }
    }
    return take(bytes);
  }

  private boolean wasUsed(int hash) {
    long at = mark(hash);
    byte marks = memory.get(JAVA_BYTE, at);
    memory.set(JAVA_BYTE, at, (byte) (marks & ~bit(hash)));
    return (marks & bit(hash)) != 0;
  }

  /** Returns whether there is room at the tail, or before the head once the tail goes round. */
  private boolean hasRoom(long bytes) {
    if (empty) {
      return true;
    }
    return tail > head ? end - tail >= bytes || head - log >= bytes : head - tail >= bytes;
  }

  /** Takes room that there is. */
  private long take(long bytes) {
    if (empty) {
      head = log;
      tail = log;
      wrap = end;
      empty = false;
    } else if (tail > head && end - tail < bytes) {
      wrap = tail;
      tail = log;
      if (!wasFull) {
        wasFull = true;
        onFull.run();
      }
    }
    long taken = tail;
    tail += bytes;
    return taken;
  }
}
