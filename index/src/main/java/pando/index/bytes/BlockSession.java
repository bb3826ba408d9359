package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbCounters;
import pando.fabric.memory.KeyOrder;
import pando.fabric.memory.StackRoom;
import pando.index.Lease;
import pando.index.session.Failures;
import pando.index.session.Operation;
import pando.index.session.SessionState;
import pando.index.session.SizeEstimate;

/**
 * One thread's access to blocks of records. Arguments may be what this session has returned. A
 * {@link #get} that finds its record cached allocates nothing, one that READs a segment less than
 * 100 bytes, and {@link #value()} a segment; neighbours, scans and changes allocate keys and
 * blocks.
 */
final class BlockSession extends ChangingSession {
  /** With this in place of a key the sums of all blocks are made. */
  static final long BLOCKS = 0;

  /** In a range of up to so many blocks, entries are counted and not estimated. */
  private static final int COUNTED_BLOCKS_MAX = 32;

  private final ByteIndex index;
  final BlockReader reader;
  private final BlockScans scans;
  final BlockChanges changes;
  private final SessionState state = new SessionState(StackRoom.STRINGS);
  private final @Nullable Lease lease;
  private MemorySegment key = NOTHING;

  /** The value, {@code null} if it is that of the reader: it is made when it is asked for. */
  private @Nullable MemorySegment value = NOTHING;

  BlockSession(ByteIndex index) {
    this.index = index;
    this.lease = index.ranges.lease();
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

  @Override
  public MemorySegment key() {
    return key;
  }

  @Override
  public MemorySegment value() {
    MemorySegment known = value;
    return known == null ? reader.value() : known;
  }

  @Override
  public void expect(List<MemorySegment> keys) {
    state.checkUsable();
    if (reader.pass.tryEnter()) {
      try {
        reader.touch(keys);
      } finally {
        reader.pass.exit();
      }
    }
  }

  @Override
  public boolean get(MemorySegment wanted) {
    begin(wanted);
    boolean found;
    try {
      MemorySegment itsKey = reader.kept(wanted);
      found = reader.find(itsKey);
      if (found) {
        key = itsKey;
        value = null;
      }
    } finally {
      reader.pass.exit();
    }
    awaitLease();
    return found;
  }

  /** Returns once what was found may be answered. */
  private void awaitLease() {
    if (lease != null) {
      lease.await();
    }
  }

  @Override
  protected boolean change(
      Operation operation, MemorySegment wanted, MemorySegment stored, MemorySegment expected) {
    Objects.requireNonNull(expected, "expected");
    checkEntry(index, wanted, stored);
    state.checkUsable();
    reader.enter(wanted);
    value = NOTHING;
    boolean found;
    try {
      MemorySegment itsKey = reader.kept(wanted);
      found = changes.change(operation, itsKey, reader.kept(stored), reader.kept(expected));
      if (found && operation.answers()) {
        key = itsKey;
        value = changes.before();
      }
    } finally {
      reader.pass.exit();
    }
    if (lease != null) {
      lease.awaitAfterChange();
    }
    return switch (operation) {
      case PUT_IF_ABSENT -> !found;
      case REPLACE, REMOVE_EXPECTED -> changes.matches();
      default -> found;
    };
  }

  @Override
  public boolean floor(MemorySegment wanted) {
    return neighbour(wanted, true, true);
  }

  @Override
  public boolean ceiling(MemorySegment wanted) {
    return neighbour(wanted, false, true);
  }

  @Override
  public boolean lower(MemorySegment wanted) {
    return neighbour(wanted, true, false);
  }

  @Override
  public boolean higher(MemorySegment wanted) {
    return neighbour(wanted, false, false);
  }

  @Override
  public boolean first() {
    return ceiling(NOTHING);
  }

  @Override
  public boolean last() {
    state.checkUsable();
    return neighbourOf(null, true, true);
  }

  private boolean neighbour(MemorySegment wanted, boolean down, boolean inclusive) {
    checkKey(wanted);
    state.checkUsable();
    return neighbourOf(wanted, down, inclusive);
  }

  private boolean neighbourOf(@Nullable MemorySegment wanted, boolean down, boolean inclusive) {
    boolean isBelow = wanted == null || (down && !inclusive && wanted.byteSize() > 0);
    while (true) {
      boolean found = findNeighbour(wanted, isBelow, down, inclusive);
      MemorySegment left = scans.left();
      if (found || left == null) {
        awaitLease();
        return found;
      }
      // What is beyond may have come to this process by now; if not, that is thrown.
      enter(left, down);
      reader.pass.exit();
    }
  }

  private boolean findNeighbour(
      @Nullable MemorySegment wanted, boolean isBelow, boolean down, boolean inclusive) {
    enter(wanted, isBelow);
    try {
      MemorySegment from = wanted == null ? null : reader.kept(wanted);
      boolean found = scans.findNeighbour(from, isBelow, down, inclusive);
      if (found) {
        key = scans.key();
        value = null;
      }
      return found;
    } finally {
      reader.pass.exit();
    }
  }

  /** Begins an operation on a key, or on those just below it; {@code null}: the last ones. */
  private void enter(@Nullable MemorySegment wanted, boolean isBelow) {
    if (wanted == null || isBelow) {
      reader.enterBelow(wanted);
    } else {
      reader.enter(wanted);
    }
  }

  @Override
  public long scan(
      MemorySegment from, @Nullable MemorySegment to, long limit, ByteVisitor visitor) {
    checkScan(from, to, false, limit, visitor);
    state.beginScan();
    try {
      return limit == 0
          ? 0
          : answered(
              scans.scan(
                  ByteArguments.copyOf(from),
                  to == null ? null : ByteArguments.copyOf(to),
                  limit,
                  leased(visitor)));
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
      return limit == 0
          ? 0
          : answered(
              scans.scanDown(
                  from == null ? null : ByteArguments.copyOf(from),
                  ByteArguments.copyOf(to),
                  limit,
                  leased(visitor)));
    } finally {
      state.endScan();
    }
  }

  /** Returns how many entries a scan has visited: that there are no more is an answer, too. */
  private long answered(long visited) {
    awaitLease();
    return visited;
  }

  /** Returns a visitor that sees an entry only if the lease is held after it was read. */
  private ByteVisitor leased(ByteVisitor visitor) {
    if (lease == null) {
      return visitor;
    }
    return (itsKey, itsValue) -> {
      awaitLease();
      return visitor.visit(itsKey, itsValue);
    };
  }

  private void checkScan(
      MemorySegment low,
      @Nullable MemorySegment high,
      boolean down,
      long limit,
      ByteVisitor visitor) {
    ByteArguments.checkScan(low, high, down, ByteIndex.KEY_BYTES_MAX, limit, visitor);
    state.checkUsable();
    reader.pass.enter();
    reader.pass.exit();
  }

  /** Estimates how many entries a range has; counts them if it has few blocks. */
  long sizeEstimate(MemorySegment from, @Nullable MemorySegment to) {
    checkScan(from, to, false, 0, (itsKey, itsValue) -> true);
    RandomGenerator random = reader.blobs.worker().random();
    SizeEstimate estimate = new SizeEstimate();
    if (to != null && KeyOrder.compare(from, to) >= 0) {
      return 0;
    }
    while (!estimate.isEnough()) {
      enterAll(from, to);
      try {
        int nodes = index.directory.nodes(from, to);
        List<BlockEntry> some = index.directory.entries(random.nextInt(nodes), from, to);
        if (nodes == 1 && some.size() <= COUNTED_BLOCKS_MAX) {
          return some.stream().mapToLong(block -> count(block, from, to)).sum();
        }
        BlockEntry drawn = some.get(random.nextInt(some.size()));
        estimate.add((double) count(drawn, from, to) * some.size() * nodes);
      } finally {
        reader.pass.exit();
      }
    }
    return Math.round(estimate.mean());
  }

  /** Begins an operation on a range, all of which is served here. */
  private void enterAll(MemorySegment from, @Nullable MemorySegment to) {
    reader.enter(from);
    while (!index.directory.served().hasBelow(to)) {
      reader.pass.exit();
      reader.enterBelow(to);
      reader.pass.exit();
      reader.enter(from);
    }
  }

  /** Counts the records of a block that are in a range. */
  private int count(BlockEntry block, MemorySegment from, @Nullable MemorySegment to) {
    reader.set(block);
    BlockView view = reader.viewOrGone(0);
    if (view == null) {
      return 0;
    }
    int below = view.block().covers(from) ? OrderedRecords.below(view.find(from)) : 0;
    int end = view.count();
    if (to != null && view.block().covers(to)) {
      end = OrderedRecords.below(view.find(to));
    }
    return Math.max(0, end - below);
  }

  private void begin(MemorySegment wanted) {
    checkKey(wanted);
    state.checkUsable();
    reader.enter(wanted);
  }

  /** Checks the lengths of a key and its value. */
  static void checkEntry(ByteIndex index, MemorySegment wanted, MemorySegment stored) {
    ByteArguments.checkValue(stored, index.valueBytesMax());
    checkKey(wanted);
  }

  private static void checkKey(MemorySegment wanted) {
    ByteArguments.checkKey(wanted, ByteIndex.KEY_BYTES_MAX);
  }

  @Override
  public void alone(Runnable action) {
    Objects.requireNonNull(action, "action");
    state.checkUsable();
    reader.pass.alone(action);
  }

  /** {@inheritDoc} Others wait, whatever the keys. */
  @Override
  public void atomically(@Nullable Collection<MemorySegment> keys, Consumer<ByteSession> action) {
    Objects.requireNonNull(action, "action");
    ByteTransaction transaction = new ByteTransaction(this, _ -> true);
    alone(() -> transaction.run(action));
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
    if (state.close()) {
      index.end(this);
    }
  }
}
