package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.StackRoom;
import pando.index.Lease;
import pando.index.blob.Blobs;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;
import pando.index.dex.StringScans.Neighbour;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.Operation;
import pando.index.session.SessionState;

/** One thread's access to byte strings over DEX. A get allocates nothing but what it returns. */
final class StringSession implements ByteSession {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final DexStrings strings;
  private final StringKeys keys;
  private final WideSession words;
  private final @Nullable Lease lease;
  private final Blobs blobs;
  private final Gate.Pass pass;
  private final StringEntry entry;
  private final StringScans scans;
  private final SessionState state = new SessionState(StackRoom.STRINGS);

  /** The key that was found, {@code null} if the words' session has it. */
  private @Nullable MemorySegment key = NOTHING;

  /** The value that was found, {@code null} if it is the one that was loaded last. */
  private @Nullable MemorySegment value = NOTHING;

  /**
   * Creates a session.
   *
   * @param words answer without a lease
   * @param lease while which it answers, {@code null} for always
   */
  StringSession(
      DexStrings strings, StringKeys keys, WideSession words, @Nullable Lease lease, Blobs blobs) {
    this.strings = strings;
    this.keys = keys;
    this.words = words;
    this.lease = lease;
    this.blobs = blobs;
    this.pass = strings.gate().pass(blobs.worker());
    this.entry = new StringEntry(words, blobs, keys, strings.lost());
    this.scans = new StringScans(words, blobs, keys, entry, pass);
  }

  @Override
  public MemorySegment key() {
    MemorySegment known = key;
    return known == null ? keys.string(words.key()) : known;
  }

  @Override
  public MemorySegment value() {
    MemorySegment known = value;
    return known == null
        ? blobs.bytes().asSlice(blobs.offset(), blobs.length()).asReadOnly()
        : known;
  }

  @Override
  public boolean get(MemorySegment wanted) {
    begin(wanted);
    boolean isThere;
    try {
      isThere = found(wanted, entry.get());
    } finally {
      pass.exit();
    }
    return answered(isThere);
  }

  @Override
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.PUT, wanted, NOTHING, stored);
  }

  @Override
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    return !change(Operation.PUT_IF_ABSENT, wanted, NOTHING, stored);
  }

  @Override
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    return change(Operation.UPDATE, wanted, NOTHING, stored);
  }

  @Override
  public boolean remove(MemorySegment wanted) {
    return change(Operation.REMOVE, wanted, NOTHING, NOTHING);
  }

  @Override
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return change(Operation.REPLACE, wanted, Objects.requireNonNull(expected, "expected"), stored);
  }

  @Override
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    return change(
        Operation.REMOVE_EXPECTED, wanted, Objects.requireNonNull(expected, "expected"), NOTHING);
  }

  @Override
  public void store(MemorySegment wanted, MemorySegment stored) {
    change(Operation.STORE, wanted, NOTHING, stored);
  }

  @Override
  public void discard(MemorySegment wanted) {
    change(Operation.DISCARD, wanted, NOTHING, NOTHING);
  }

  /** Changes an entry; returns whether it was there or, if the operation compares, has changed. */
  private boolean change(
      Operation operation, MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    MemorySegment keptExpected = kept(expected);
    ByteArguments.checkValue(stored, strings.valueBytesMax());
    MemorySegment kept = kept(stored);
    begin(wanted);
    boolean result;
    try {
      result = changeEntry(operation, wanted, keptExpected, kept);
    } finally {
      end();
    }
    // Not earlier: the steps of a change free what they replace, whatever the answer is.
    if (lease != null) {
      lease.awaitAfterChange();
    }
    return result;
  }

  private boolean changeEntry(
      Operation operation, MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    return switch (operation) {
      case GET -> throw new AssertionError(operation);
      case PUT -> found(wanted, entry.put(stored));
      case PUT_IF_ABSENT -> found(wanted, entry.putIfAbsent(stored));
      case UPDATE -> found(wanted, entry.update(stored));
      case REMOVE -> found(wanted, entry.remove());
      case STORE -> {
        entry.store(stored);
        yield false;
      }
      case DISCARD -> {
        entry.discard();
        yield false;
      }
      case REPLACE -> {
        boolean replaced = entry.replace(expected, stored);
        found(wanted, replaced || entry.isThere());
        if (replaced) {
          // The new value may be where the one before was loaded.
          value = ByteArguments.copyOf(expected).asReadOnly();
        }
        yield replaced;
      }
      case REMOVE_EXPECTED -> {
        boolean removed = entry.remove(expected);
        found(wanted, removed || entry.isThere());
        yield removed;
      }
    };
  }

  /** Returns an answer once the lease is held: that nothing is there is an answer, too. */
  private boolean answered(boolean isThere) {
    if (lease != null) {
      lease.await();
    }
    return isThere;
  }

  /** Goes to the entry of a key, and enters: last, as the memory of the key may be freed. */
  private void begin(MemorySegment wanted) {
    checkKey(wanted);
    state.checkUsable();
    entry.seek(wanted);
    value = NOTHING;
    pass.enter();
  }

  /** Ends an operation that may have replaced a value. */
  private void end() {
    try {
      blobs.endReplacement();
    } finally {
      pass.exit();
    }
  }

  /**
   * Returns bytes that a caller gives, or a copy of them where this session has returned them, and
   * is going to overwrite them.
   */
  private MemorySegment kept(MemorySegment given) {
    MemorySegment own = given.isNative() ? blobs.worker().memory() : words.key();
    return given.asOverlappingSlice(own).isPresent() ? ByteArguments.copyOf(given) : given;
  }

  private boolean found(MemorySegment wanted, boolean isThere) {
    if (isThere) {
      key = wanted;
      value = null;
    }
    return isThere;
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    checkKey(wanted);
    return find(Neighbour.FLOOR, wanted);
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    checkKey(wanted);
    return find(Neighbour.CEILING, wanted);
  }

  @Override
  public boolean lower(MemorySegment wanted) {
    checkKey(wanted);
    return find(Neighbour.LOWER, wanted);
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    checkKey(wanted);
    return find(Neighbour.HIGHER, wanted);
  }

  @Override
  public boolean first() {
    return find(Neighbour.FIRST, null);
  }

  @Override
  public boolean last() {
    return find(Neighbour.LAST, null);
  }

  private boolean find(Neighbour neighbour, @Nullable MemorySegment wanted) {
    state.checkUsable();
    pass.enter();
    boolean isThere;
    try {
      isThere = scans.find(neighbour, wanted);
      if (isThere) {
        key = null;
        value = null;
      }
    } finally {
      pass.exit();
    }
    return answered(isThere);
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    checkScan(from, to, false, limit, visitor);
    state.beginScan();
    try {
      return counted(scans.scan(from, to, limit, leased(visitor)));
    } finally {
      state.endScan();
    }
  }

  @Override
  public long scanDown(
      @Nullable MemorySegment from, MemorySegment to, long limit, ByteVisitor visitor) {
    checkScan(to, from, true, limit, visitor);
    state.beginScan();
    try {
      return counted(scans.scanDown(from, to, limit, leased(visitor)));
    } finally {
      state.endScan();
    }
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private ByteVisitor leased(ByteVisitor visitor) {
    return lease == null ? visitor : (its, stored) -> answered(true) && visitor.visit(its, stored);
  }

  /** Returns a number of entries once the lease is held: that there are no others is an answer. */
  private long counted(long visited) {
    answered(true);
    return visited;
  }

  private void checkScan(
      MemorySegment low,
      @Nullable MemorySegment high,
      boolean down,
      long limit,
      ByteVisitor visitor) {
    ByteArguments.checkScan(low, high, down, keys.lengthMax(), limit, visitor);
    state.checkUsable();
    pass.enter();
    pass.exit();
  }

  private void checkKey(MemorySegment wanted) {
    ByteArguments.checkKey(wanted, keys.lengthMax());
  }

  @Override
  public void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    state.checkUsable();
    pass.enter();
    pass.exit();
    words.alone(action);
  }

  /** Frees what the session holds, where the strings close. */
  void release() {
    strings.gate().forget(pass);
    Failures failures = new Failures();
    failures.collect(blobs::close);
    failures.collect(words::close);
    failures.rethrow();
  }

  @Override
  public void close() {
    if (state.close()) {
      strings.end(this);
    }
  }
}
