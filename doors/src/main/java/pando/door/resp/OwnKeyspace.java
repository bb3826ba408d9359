package pando.door.resp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import pando.fabric.PoolUsage;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteStrings;

/**
 * The keys of a door that has an index for itself. Where keys, values and sets of all databases
 * are:
 *
 * <pre>
 * key                                   value
 * database 1 | key                      0 | string                         a string
 * database 1 | key                      1 | score 8 | set 8                a sorted set of equal scores
 * database 1 | key                      2 | string | deadline 8            a string that expires
 * database 1 | key                      3 | score 8 | set 8 | deadline 8   such a set
 * 16 + database 1 | set 8 | member      nothing                            a member of that set
 * 32 | deadline 8 | database 1 | key    nothing                            see {@link Times}
 * </pre>
 *
 * <p>A deadline is in milliseconds since 1970. It lies with the value, so one change of the key
 * changes both. What begins with 32 is not in the log of a data folder: it is made when a door
 * opens.
 *
 * <p>Each set that is made gets a number that no other had, and a set without members has no key.
 * So one change of the key, by whatever command, makes all members unreachable; the event loop that
 * made it then removes them. An event loop that changes a set holds the lock of its key
 * exclusively, one that reads a set shares it; strings need no lock.
 *
 * <p>Thread-safe.
 */
final class OwnKeyspace extends Keyspace {
  static final int DATABASES = 16;

  /** The bit of a value's first byte that says that it is a set. */
  static final byte SET = 1;

  /** The bit that says that it ends with a deadline. */
  static final byte TIMED = 2;

  /** Bytes in front of a member. */
  static final int MEMBER_AT = 1 + Long.BYTES;

  /** The byte in front of each key, and of each string. */
  private static final int MARK_BYTES = 1;

  /** The bytes of a deadline, at the end of a value that has one. */
  private static final int DEADLINE_BYTES = Long.BYTES;

  /** Greatest length of a key. */
  static final int KEY_BYTES_MAX = ByteIndex.KEY_BYTES_MAX - MARK_BYTES;

  /** Greatest length of a member, which leaves room for a byte that follows it. */
  static final int MEMBER_BYTES_MAX = ByteIndex.KEY_BYTES_MAX - MEMBER_AT - 1;

  /** What entries of {@link Times} begin with. */
  static final byte TIMES = 2 * DATABASES;

  /** Locks of sets. */
  static final int LOCKS = 256;

  private final ByteIndex index;

  /** Bytes that the pool was given, and can grow to. */
  private final long capacityBytes;

  private final LongAdder[] counts = newCounts();
  private final LongAdder[] timedCounts = newCounts();
  private final KeyVersions versions = new KeyVersions();
  private final AtomicLong lastSet = new AtomicLong();
  private final ReadWriteLock[] locks =
      Stream.generate(ReentrantReadWriteLock::new).limit(LOCKS).toArray(ReadWriteLock[]::new);

  /**
   * Takes stock of what is in the index, and mends sets whose change had not ended.
   *
   * @param strings by which the index is changed, or the index itself
   * @throws IllegalStateException if something is there that no door has stored
   */
  OwnKeyspace(ByteStrings strings, ByteIndex index) {
    this(strings, index, System::currentTimeMillis);
  }

  OwnKeyspace(ByteStrings strings, ByteIndex index, LongSupplier clock) {
    super(strings, MARK_BYTES, DEADLINE_BYTES, clock);
    this.index = index;
    this.capacityBytes = index.fabric().usage().stream().mapToLong(PoolUsage::capacityBytes).sum();
    SetRepair repair = new SetRepair(this);
    try (ByteSession session = index.session();
        Times times = new Times(this)) {
      session.scan(
          MemorySegment.ofArray(new byte[0]),
          null,
          Long.MAX_VALUE,
          (key, value) -> take(key, value, repair, times));
    }
    repair.run();
  }

  private boolean take(MemorySegment key, MemorySegment value, SetRepair repair, Times times) {
    int area = key.byteSize() == 0 ? -1 : key.get(JAVA_BYTE, 0);
    boolean isMember = area >= DATABASES && area < TIMES && key.byteSize() >= MEMBER_AT;
    boolean isKey = area >= 0 && area < DATABASES && Stored.isValue(value);
    boolean isTime = area == TIMES && Stored.isTime(key, value);
    if (!isKey && !isMember && !isTime) {
      throw new IllegalStateException("the index has keys that no door has stored: area=" + area);
    }
    if (isMember) {
      long set = Stored.big(key, 1);
      lastSet.accumulateAndGet(set, Math::max);
      repair.member(area - DATABASES, set);
    } else if (isKey) {
      takeKey(key, value, repair, times);
    }
    return true;
  }

  private void takeKey(MemorySegment key, MemorySegment value, SetRepair repair, Times times) {
    count(database(key), 1);
    long deadline = deadline(value);
    if (deadline != NEVER) {
      timed(key, false, true);
      times.add(deadline, key);
    }
    if (!isString(value)) {
      long set = Stored.set(value);
      lastSet.accumulateAndGet(set, Math::max);
      repair.key(key, set);
    }
  }

  @Override
  int databases() {
    return DATABASES;
  }

  @Override
  boolean isOwn() {
    return true;
  }

  /** Returns {@code false}, as each change of a key needs to know what the key had. */
  @Override
  boolean goesTogether() {
    return false;
  }

  @Override
  OwnStore newStore(Consumer<Consumer<Store>> later) {
    return new OwnStore(this, later);
  }

  @Override
  SequencedMap<String, Long> sizes() {
    SequencedMap<String, Long> sizes = new LinkedHashMap<>();
    sizes.put("keys", Stream.of(counts).mapToLong(LongAdder::sum).sum());
    sizes.put("index.bytes", index.poolBytes());
    sizes.put("pool.capacity.bytes", capacityBytes);
    sizes.put("cache.bytes", index.cachedBytes());
    sizes.put("blocks", (long) index.blocks());
    return sizes;
  }

  /** Returns how often keys were changed, for clients that watch some. */
  KeyVersions versions() {
    return versions;
  }

  /** Counts keys that have come to a database, or gone if the number is negative. */
  void count(int database, long more) {
    counts[database].add(more);
  }

  /** Returns the number of keys, which is exact while no key is changed. */
  long count(int database) {
    return counts[database].sum();
  }

  @Override
  long[] counts() {
    return Stream.of(counts).mapToLong(LongAdder::sum).toArray();
  }

  @Override
  long[] timedCounts() {
    return Stream.of(timedCounts).mapToLong(LongAdder::sum).toArray();
  }

  private static LongAdder[] newCounts() {
    return Stream.generate(LongAdder::new).limit(DATABASES).toArray(LongAdder[]::new);
  }

  @Override
  void timed(MemorySegment key, boolean before, boolean now) {
    timedCounts[database(key)].add((now ? 1 : 0) - (before ? 1 : 0));
  }

  @Override
  boolean mayHaveTimes() {
    return Stream.of(timedCounts).anyMatch(count -> count.sum() > 0);
  }

  @Override
  byte[] timesMark() {
    return new byte[] {TIMES};
  }

  /** {@inheritDoc} The entries are not in the log of a data folder. */
  @Override
  ByteSession timesSession() {
    return index.session();
  }

  @Override
  boolean isString(MemorySegment value) {
    return (value.get(JAVA_BYTE, 0) & SET) == 0;
  }

  /** {@inheritDoc} A member has no value, and so no deadline. */
  @Override
  long deadline(MemorySegment stored) {
    return trailerBytes(stored) == 0
        ? NEVER
        : Stored.big(stored, stored.byteSize() - DEADLINE_BYTES);
  }

  @Override
  int trailerBytes(MemorySegment stored) {
    boolean isTimed = stored.byteSize() > 0 && (stored.get(JAVA_BYTE, 0) & TIMED) != 0;
    return isTimed ? DEADLINE_BYTES : 0;
  }

  @Override
  MemorySegment stored(byte[] room, long deadline) {
    MemorySegment stored = MemorySegment.ofArray(room);
    room[0] &= SET;
    if (deadline != NEVER) {
      room[0] |= TIMED;
      stored.set(ByteStrings.WORD, room.length - DEADLINE_BYTES, deadline);
    }
    return stored;
  }

  /** Returns the database of a key as it is stored. */
  static int database(MemorySegment key) {
    return key.get(JAVA_BYTE, 0);
  }

  /** Returns a number that no set has had. */
  long newSet() {
    return lastSet.incrementAndGet();
  }

  ReadWriteLock lock(int number) {
    return locks[number];
  }

  /** Returns the number of the lock of the set of a key. */
  int lockOf(MemorySegment key) {
    int hash = 0;
    for (long i = 0; i < key.byteSize(); i++) {
      hash = 31 * hash + key.get(JAVA_BYTE, i);
    }
    hash *= 0x9E3779B9;
    return hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(LOCKS));
  }
}
