package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.StackRoom;
import pando.index.blob.Blobs;
import pando.index.bytes.ByteArguments;
import pando.index.bytes.ByteSession;
import pando.index.bytes.ByteVisitor;
import pando.index.dex.StringScans.Neighbour;
import pando.index.session.Failures;
import pando.index.session.Gate;
import pando.index.session.SessionState;

/** One thread's access to byte strings over DEX. A get allocates nothing but what it returns. */
final class StringSession implements ByteSession {
  private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

  private final DexStrings strings;
  private final StringKeys keys;
  private final WideSession words;
  private final Blobs blobs;
  private final Gate.Pass pass;
  private final StringEntry entry;
  private final StringScans scans;
  private final SessionState state = new SessionState(StackRoom.STRINGS);

  /** The key that was found, {@code null} if the words' session has it. */
  private @Nullable MemorySegment key = NOTHING;

  /** The value that was found, {@code null} if it is the one that was loaded last. */
  private @Nullable MemorySegment value = NOTHING;

  StringSession(DexStrings strings, StringKeys keys, WideSession words, Blobs blobs) {
    this.strings = strings;
    this.keys = keys;
    this.words = words;
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
    try {
      return found(wanted, entry.get());
    } finally {
      pass.exit();
    }
  }

  @Override
  public boolean put(MemorySegment wanted, MemorySegment stored) {
    MemorySegment kept = begin(wanted, stored);
    try {
      return found(wanted, entry.put(kept));
    } finally {
      end();
    }
  }

  @Override
  public boolean putIfAbsent(MemorySegment wanted, MemorySegment stored) {
    MemorySegment kept = begin(wanted, stored);
    try {
      return !found(wanted, entry.putIfAbsent(kept));
    } finally {
      pass.exit();
    }
  }

  @Override
  public boolean update(MemorySegment wanted, MemorySegment stored) {
    MemorySegment kept = begin(wanted, stored);
    try {
      return found(wanted, entry.update(kept));
    } finally {
      end();
    }
  }

  @Override
  public boolean remove(MemorySegment wanted) {
    begin(wanted);
    try {
      return found(wanted, entry.remove());
    } finally {
      pass.exit();
    }
  }

  @Override
  public boolean replace(MemorySegment wanted, MemorySegment expected, MemorySegment stored) {
    MemorySegment keptExpected = kept(Objects.requireNonNull(expected, "expected"));
    MemorySegment kept = begin(wanted, stored);
    try {
      boolean replaced = entry.replace(keptExpected, kept);
      found(wanted, replaced || entry.isThere());
      if (replaced) {
        // The new value may be where the one before was loaded.
        value = ByteArguments.copyOf(keptExpected).asReadOnly();
      }
      return replaced;
    } finally {
      end();
    }
  }

  @Override
  public boolean remove(MemorySegment wanted, MemorySegment expected) {
    MemorySegment keptExpected = kept(Objects.requireNonNull(expected, "expected"));
    begin(wanted);
    try {
      boolean removed = entry.remove(keptExpected);
      found(wanted, removed || entry.isThere());
      return removed;
    } finally {
      pass.exit();
    }
  }

  @Override
  public void store(MemorySegment wanted, MemorySegment stored) {
    MemorySegment kept = begin(wanted, stored);
    try {
      entry.store(kept);
    } finally {
      end();
    }
  }

  @Override
  public void discard(MemorySegment wanted) {
    begin(wanted);
    try {
      entry.discard();
    } finally {
      pass.exit();
    }
  }

  /** Goes to the entry of a key, and enters: last, as the memory of the key may be freed. */
  private void begin(MemorySegment wanted) {
    checkKey(wanted);
    state.checkUsable();
    entry.seek(wanted);
    value = NOTHING;
    pass.enter();
  }

  /** Enters, and goes to the entry of a key; returns the value to store in it. */
  private MemorySegment begin(MemorySegment wanted, MemorySegment stored) {
    ByteArguments.checkValue(stored, strings.valueBytesMax());
    MemorySegment kept = kept(stored);
    begin(wanted);
    return kept;
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
    try {
      boolean isThere = scans.find(neighbour, wanted);
      if (isThere) {
        key = null;
        value = null;
      }
      return isThere;
    } finally {
      pass.exit();
    }
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    checkScan(from, to, false, limit, visitor);
    state.beginScan();
    try {
      return scans.scan(from, to, limit, visitor);
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
      return scans.scanDown(from, to, limit, visitor);
    } finally {
      state.endScan();
    }
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
