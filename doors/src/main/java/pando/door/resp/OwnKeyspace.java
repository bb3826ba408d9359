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
 * key                                        value
 * database 1 | key                           0 | string            a string
 * database 1 | key                           1 | score 8 | set 8   a sorted set of equal scores
 * 16 + database 1 | set 8 | member           nothing               a member of that set
 * </pre>
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
  static final byte SET = 1;

  /** Bytes in front of a member. */
  static final int MEMBER_AT = 1 + Long.BYTES;

  /** The byte in front of each key, and of each string. */
  private static final int MARK_BYTES = 1;

  /** Greatest length of a key. */
  static final int KEY_BYTES_MAX = ByteIndex.KEY_BYTES_MAX - MARK_BYTES;

  /** Greatest length of a member, which leaves room for a byte that follows it. */
  static final int MEMBER_BYTES_MAX = ByteIndex.KEY_BYTES_MAX - MEMBER_AT - 1;

  /** Locks of sets. */
  static final int LOCKS = 256;

  private final ByteIndex index;

  /** Bytes that the pool was given, and can grow to. */
  private final long capacityBytes;

  private final LongAdder[] counts =
      Stream.generate(LongAdder::new).limit(DATABASES).toArray(LongAdder[]::new);
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
    super(strings, MARK_BYTES);
    this.index = index;
    this.capacityBytes = index.fabric().usage().stream().mapToLong(PoolUsage::capacityBytes).sum();
    SetRepair repair = new SetRepair(this);
    try (ByteSession session = index.session()) {
      session.scan(
          MemorySegment.ofArray(new byte[0]),
          null,
          Long.MAX_VALUE,
          (key, value) -> take(key, value, repair));
    }
    repair.run();
  }

  private boolean take(MemorySegment key, MemorySegment value, SetRepair repair) {
    int area = key.byteSize() == 0 ? -1 : key.get(JAVA_BYTE, 0);
    boolean isMember = area >= DATABASES && area < 2 * DATABASES && key.byteSize() >= MEMBER_AT;
    boolean isKey = area >= 0 && area < DATABASES && Stored.isValue(value);
    if (!isKey && !isMember) {
      throw new IllegalStateException("the index has keys that no door has stored: area=" + area);
    }
    if (isMember) {
      long set = Stored.big(key, 1);
      lastSet.accumulateAndGet(set, Math::max);
      repair.member(area - DATABASES, set);
    } else {
      counts[area].increment();
      if (!isString(value)) {
        long set = Stored.set(value);
        lastSet.accumulateAndGet(set, Math::max);
        repair.key(key, set);
      }
    }
    return true;
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
  Store newStore(Consumer<Consumer<Store>> later) {
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
