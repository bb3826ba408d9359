package pando.index.bytes;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;
import pando.index.session.Failures;
import pando.index.session.Operation;

/**
 * One thread's access to an index of byte strings. The bytes of a key or value are those of a whole
 * segment, native or of an array.
 *
 * <p>After an operation that found an entry, {@link #key()} and {@link #value()} return it until
 * the next operation. Operations on one key are linearizable, and so are {@link #floor} and its
 * like. Failures of the environment, what happens after {@link #close()}, and what a visitor may do
 * are as in {@link pando.index.Session}.
 *
 * <p>A key above {@value ByteIndex#KEY_BYTES_MAX} bytes, and a value above 16 MiB (less in a pool
 * of small chunks), are refused by an {@link IllegalArgumentException}.
 *
 * <p>What is given may be what this session has returned. A {@link #get} that finds its record
 * cached allocates nothing, one that READs a segment less than 100 bytes, and {@link #value()} a
 * segment; neighbours, scans and changes allocate keys and blocks.
 *
 * <p>Not thread-safe: one session, one thread.
 */
public final class ByteSession implements AutoCloseable {
  /** What the sums of all blocks are made with in place of a key. */
  static final long BLOCKS = 0;

  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final ByteIndex index;
  private final BlockReader reader;
  private final BlockScans scans;
  private final BlockChanges changes;
  private boolean closed;
  private boolean scanning;
  private MemorySegment key = NOTHING;

  /** The value, {@code null} if it is that of the reader: it is made when it is asked for. */
  private @Nullable MemorySegment value = NOTHING;

  ByteSession(ByteIndex index) {
    this.index = index;
    this.reader = new BlockReader(index);
    this.scans = new BlockScans(index, reader);
    boolean opened = false;
    try {
      this.changes = new BlockChanges(index, reader);
      opened = true;
    } finally {
      if (!opened) {
        reader.close();
      }
    }
  }

  /**
   * Returns the key of the entry that the last operation found. Of an operation that was given the
   * key, it is what the caller gave, and changes if the caller changes that.
   */
  public MemorySegment key() {
    return key;
  }

  /**
   * Returns the value of the entry that the last operation found, before it was changed. It cannot
   * be written to. Each call may make a new segment of the same bytes, which the next operation
   * overwrites and which {@link #close} and that of the index may take away: copy what must stay.
   */
  public MemorySegment value() {
    MemorySegment known = value;
    return known == null ? reader.value() : known;
  }

  /** Finds the entry of a key. */
  public boolean get(MemorySegment wanted) {
    begin(wanted);
    try {
      MemorySegment itsKey = reader.kept(wanted);
      boolean found = reader.find(itsKey);
      if (found) {
        key = itsKey;
        value = null;
      }
      return found;
    } finally {
      reader.pass.exit();
    }
  }

  /**
   * Stores a value, whether or not the key is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT, wanted, stored, NOTHING);
  }

  /**
   * Stores a value if the key is absent.
   *
   * @return whether the value was stored; else {@link #value()} is the value that is there
   */
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return !change(Operation.PUT_IF_ABSENT, wanted, stored, NOTHING);
  }

  /**
   * Replaces the value of a key that is there.
   *
   * @return whether the key was there; {@link #value()} is then the value replaced
   */
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.UPDATE, wanted, stored, NOTHING);
  }

  /**
   * Removes a key.
   *
   * @return whether the key was there; {@link #value()} is then the value removed
   */
  public boolean remove(MemorySegment wanted) {
    return change(Operation.REMOVE, wanted, NOTHING, NOTHING);
  }

  /**
   * Replaces the value of a key if it is the one that is expected.
   *
   * @return whether it was; else {@link #value()} is the value that is there, empty if the key is
   *     absent
   */
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return change(Operation.REPLACE, wanted, stored, expected) && changes.matches();
  }

  /**
   * Removes a key if it has the value that is expected.
   *
   * @return whether it had; else {@link #value()} is the value that is there, empty if the key is
   *     absent
   */
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    return change(Operation.REMOVE_EXPECTED, wanted, NOTHING, expected) && changes.matches();
  }

  /** Stores a value, whether or not the key is there, and does not say whether it was. */
  public void store(MemorySegment wanted, MemorySegment stored) {
    change(Operation.STORE, wanted, stored, NOTHING);
  }

  /** Removes a key if it is there, and does not say whether it was. */
  public void discard(MemorySegment wanted) {
    change(Operation.DISCARD, wanted, NOTHING, NOTHING);
  }

  private boolean change(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    Objects.requireNonNull(expected, "expected");
    checkEntry(index, wanted, stored);
    checkUsable();
    reader.pass.enter();
    value = NOTHING;
    try {
      MemorySegment itsKey = reader.kept(wanted);
      boolean found = changes.change(operation, itsKey, reader.kept(stored), reader.kept(expected));
      if (found && operation.answers()) {
        key = itsKey;
        value = changes.before();
      }
      return found;
    } finally {
      reader.pass.exit();
    }
  }

  /** Finds the entry with the greatest key at or below a key. */
  public boolean floor(MemorySegment wanted) {
    return neighbour(wanted, true, true);
  }

  /** Finds the entry with the least key at or above a key. */
  public boolean ceiling(MemorySegment wanted) {
    return neighbour(wanted, false, true);
  }

  /** Finds the entry with the greatest key below a key. */
  public boolean lower(MemorySegment wanted) {
    return neighbour(wanted, true, false);
  }

  /** Finds the entry with the least key above a key. */
  public boolean higher(MemorySegment wanted) {
    return neighbour(wanted, false, false);
  }

  /** Finds the entry with the least key. */
  public boolean first() {
    return ceiling(NOTHING);
  }

  /** Finds the entry with the greatest key. */
  public boolean last() {
    checkUsable();
    return neighbourOf(null, true, true);
  }

  private boolean neighbour(MemorySegment wanted, boolean down, boolean inclusive) {
    checkKey(wanted);
    checkUsable();
    return neighbourOf(wanted, down, inclusive);
  }

  private boolean neighbourOf(@Nullable MemorySegment wanted, boolean down, boolean inclusive) {
    reader.pass.enter();
    try {
      MemorySegment from = wanted == null ? null : reader.kept(wanted);
      boolean found = scans.findNeighbour(from, down, inclusive);
      if (found) {
        key = scans.key();
        value = null;
      }
      return found;
    } finally {
      reader.pass.exit();
    }
  }

  /**
   * Visits entries in ascending order of their keys, with the promises of {@link
   * pando.index.Session#scan(long, long, long, pando.index.EntryVisitor)}.
   *
   * @param from first key, inclusive
   * @param to the first key behind the range, {@code null} if it has no end
   * @param limit entries at the most, 0 or more
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is above {@code to} or the limit is negative
   */
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    checkKey(from);
    if (to != null) {
      checkKey(to);
      if (KeyOrder.compare(from, to) > 0) {
        throw new IllegalArgumentException(
            "range is reversed: from=%s, to=%s".formatted(text(from), text(to)));
      }
    }
    checkScan(limit, visitor);
    scanning = true;
    try {
      return limit == 0
          ? 0
          : scans.scan(copyOf(from), to == null ? null : copyOf(to), limit, visitor);
    } finally {
      scanning = false;
    }
  }

  /**
   * Visits entries in descending order of their keys, with the promises of {@link #scan}.
   *
   * @param from the first key behind the range, {@code null} if it has no end: the scan begins with
   *     the greatest key below
   * @param to the last key, inclusive
   * @param limit entries at the most, 0 or more
   * @return the number of entries visited
   * @throws IllegalArgumentException if {@code from} is below {@code to} or the limit is negative
   */
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    checkKey(to);
    if (from != null) {
      checkKey(from);
      if (KeyOrder.compare(from, to) < 0) {
        throw new IllegalArgumentException(
            "range is reversed: from=%s, to=%s".formatted(text(from), text(to)));
      }
    }
    checkScan(limit, visitor);
    scanning = true;
    try {
      return limit == 0
          ? 0
          : scans.scanDown(from == null ? null : copyOf(from), copyOf(to), limit, visitor);
    } finally {
      scanning = false;
    }
  }

  private void checkScan(long limit, ByteVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    if (limit < 0) {
      throw new IllegalArgumentException("limit is negative: limit=" + limit);
    }
    checkUsable();
    reader.pass.enter();
    reader.pass.exit();
  }

  private static MemorySegment copyOf(MemorySegment bytes) {
    return MemorySegment.ofArray(bytes.toArray(JAVA_BYTE));
  }

  private static String text(MemorySegment bytes) {
    long shown = Math.min(bytes.byteSize(), 32);
    String hex = HexFormat.of().formatHex(bytes.asSlice(0, shown).toArray(JAVA_BYTE));
    return shown < bytes.byteSize() ? hex + "... of " + bytes.byteSize() + " bytes" : hex;
  }

  private void begin(MemorySegment wanted) {
    checkKey(wanted);
    checkUsable();
    reader.pass.enter();
  }

  /** Checks the lengths of a key and its value. */
  static void checkEntry(ByteIndex index, MemorySegment wanted, MemorySegment stored) {
    if (stored.byteSize() > index.space.lengthMax()) {
      throw new IllegalArgumentException(
          "the value is too long: valueBytes=%s, maximum=%s"
              .formatted(stored.byteSize(), index.space.lengthMax()));
    }
    checkKey(wanted);
  }

  private static void checkKey(MemorySegment wanted) {
    if (wanted.byteSize() > ByteIndex.KEY_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the key is too long: keyBytes=%s, maximum=%s"
              .formatted(wanted.byteSize(), ByteIndex.KEY_BYTES_MAX));
    }
  }

  private void checkUsable() {
    if (scanning) {
      throw new IllegalStateException("a session must not be used by the visitor of its own scan");
    }
    if (closed) {
      throw new IllegalStateException("the session is closed");
    }
  }

  /**
   * Runs an action while no other thread operates on the index: see {@link
   * pando.index.Session#alone}. As one process serves an index of byte strings, none is refused.
   */
  public void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    checkUsable();
    reader.pass.alone(action);
  }

  /** Frees what waits for it, while no operation runs. */
  void freeWaiting() {
    reader.blobs.freeWaiting();
  }

  VerbCounters verbs() {
    return reader.blobs.verbs();
  }

  /** Frees what the session holds, where the index closes. */
  void release() {
    Failures failures = new Failures();
    failures.collect(changes::close);
    failures.collect(reader::close);
    failures.rethrow();
  }

  /** Ends the session. */
  @Override
  public void close() {
    if (scanning) {
      throw new IllegalStateException("a session must not be used by the visitor of its own scan");
    }
    if (!closed) {
      closed = true;
      index.end(this);
    }
  }
}
