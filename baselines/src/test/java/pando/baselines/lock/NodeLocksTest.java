package pando.baselines.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Threads;

/** Locks that are taken together with READs of what they protect. */
@Timeout(300)
class NodeLocksTest {
  private static final long NODE = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES);
  private static final int WORD_OFFSET = 8;
  private static final long WAIT_NANOS = 60_000_000_000L;
  private static final long BUFFER = NodeLocks.SCRATCH_BYTES;
  private static final long VALUE = 77;

  private final Fabric pool = Pools.open(1, 1 << 20, 851);
  private final HookedFabric fabric = new HookedFabric(pool);

  @AfterEach
  void close() {
    pool.close();
  }

  /** Where locks are, and what their words hold. */
  enum Place {
    IN_CARD(true, true, false),
    IN_CARD_UNQUEUED(true, false, false),
    IN_NODE(false, false, false),
    IN_CARD_WITH_VERSIONS(true, true, true),
    IN_NODE_WITH_VERSIONS(false, false, true);

    final boolean onChip;
    final boolean local;
    final boolean versions;

    Place(boolean onChip, boolean local, boolean versions) {
      this.onChip = onChip;
      this.local = local;
      this.versions = versions;
    }

    LockOptions options() {
      return new LockOptions(onChip, local, versions, true, 4, WAIT_NANOS, WORD_OFFSET);
    }
  }

  /** A session that does nothing but take locks. */
  private static final class Kit implements AutoCloseable {
    final LockTables tables;
    final RegisteredMemory memory;
    final Worker worker;
    final NodeLocks locks;
    final VerbList reads = new VerbList();

    Kit(Fabric fabric, LockTables tables, LockOptions options, int computeServer, int session) {
      this.tables = tables;
      memory = fabric.register(Worker.CALL_BYTES_MAX);
      worker = fabric.worker(memory);
      locks = new NodeLocks(tables, options, computeServer, session, worker, 0);
    }

    /** Stores what is read back as {@link #value}. */
    void store(long value) {
      Words.set(memory.segment(), BUFFER, value);
      worker.write(NODE + 2 * WORD_OFFSET, BUFFER, Long.BYTES);
      Words.set(memory.segment(), BUFFER, 0);
    }

    boolean lockAndRead() {
      reads
          .clear()
          .read(NODE + 2 * WORD_OFFSET, BUFFER, Long.BYTES)
          .read(NODE + 3 * WORD_OFFSET, BUFFER + Long.BYTES, Long.BYTES);
      return locks.lockAndRead(NODE, reads);
    }

    long value() {
      return Words.get(memory.segment(), BUFFER);
    }

    /** Returns who has the node's lock, as the pool has it: 0, or what names him. */
    long holder() {
      long lock = tables.lockOf(NODE);
      worker.read(tables.wordOf(lock), BUFFER, Long.BYTES);
      return (value() >>> tables.shiftOf(lock)) & LockTables.LOCK_MASK;
    }

    @Override
    public void close() {
      worker.close();
      memory.close();
    }
  }

  private static long name(int computeServer, int session) {
    return ((computeServer + 1L) << LockTables.SESSION_BITS) | session;
  }

  private Kit kit(Place place, int computeServer, int session) {
    LockTables tables = new LockTables(fabric, place.options());
    return new Kit(fabric, tables, place.options(), computeServer, session);
  }

  private static Predicate<VerbList> startsWith(Kind kind) {
    return verbs -> verbs.size() > 0 && verbs.kind(0) == kind;
  }

  @ParameterizedTest
  @EnumSource
  void shouldReadUnderTheLock(Place place) {
    try (Kit kit = kit(place, 3, 5)) {
      kit.store(VALUE);
      VerbCounters before = kit.worker.counters().copy();
      assertThat(kit.lockAndRead()).isTrue();
      VerbCounters verbs = kit.worker.counters().copy();
      verbs.subtract(before);
      assertThat(verbs.roundTrips).isEqualTo(place.versions ? 2 : 1);
      assertThat(verbs.atomics).isEqualTo(1);
      assertThat(verbs.reads).as("with the word's").isEqualTo(place.versions ? 3 : 2);
      assertThat(verbs.writes + verbs.calls).isZero();
      assertThat(kit.value()).isEqualTo(VALUE);
      assertThat(kit.reads.size()).as("are the caller's").isEqualTo(2);
      assertThat(kit.holder()).isEqualTo(name(3, 5));
      kit.locks.unlock(NODE);
      assertThat(kit.holder()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLeaveTheReadsToWhoeverHoldsItAlready(Place place) {
    try (Kit kit = kit(place, 0, 0)) {
      kit.locks.lock(NODE, false);
      VerbCounters before = kit.worker.counters().copy();
      assertThat(kit.lockAndRead()).isFalse();
      VerbCounters verbs = kit.worker.counters().copy();
      verbs.subtract(before);
      assertThat(verbs.roundTrips).isZero();
      kit.locks.unlock(NODE);
      assertThat(kit.holder()).as("held twice").isEqualTo(name(0, 0));
      kit.locks.unlock(NODE);
      assertThat(kit.holder()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLeaveTheReadsToWhoeverHadToWait(Place place) {
    try (Kit other = kit(place, 0, 0);
        Kit kit = kit(place, 1, 0)) {
      other.locks.lock(NODE, false);
      fabric.hookNext(
          verbs -> verbs.size() == 3,
          posting -> {
            posting.post();
            other.store(VALUE);
            other.locks.unlock(NODE);
          });
      VerbCounters before = kit.worker.counters().copy();
      assertThat(kit.lockAndRead()).isFalse();
      VerbCounters verbs = kit.worker.counters().copy();
      verbs.subtract(before);
      assertThat(fabric.unhook()).isEqualTo(1);
      assertThat(kit.value()).as("as it was before").isNotEqualTo(VALUE);
      assertThat(verbs.reads).as("once is enough").isEqualTo(place.versions ? 4 : 2);
      kit.worker.post(kit.reads);
      assertThat(kit.value()).isEqualTo(VALUE);
      assertThat(kit.holder()).isEqualTo(name(1, 0));
      kit.locks.unlock(NODE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"IN_CARD_WITH_VERSIONS", "IN_NODE_WITH_VERSIONS"})
  void shouldNotBelieveWhatWasReadBeforeAnotherVersion(Place place) {
    try (Kit other = kit(place, 0, 0);
        Kit kit = kit(place, 1, 0)) {
      fabric.hookNext(
          startsWith(Kind.CAS),
          posting -> {
            other.locks.lock(NODE, false);
            other.store(VALUE);
            other.locks.unlock(NODE);
            posting.post();
          });
      assertThat(kit.lockAndRead()).isFalse();
      assertThat(fabric.unhook()).isEqualTo(1);
      assertThat(kit.value()).as("as it was before").isNotEqualTo(VALUE);
      assertThat(kit.holder()).isEqualTo(name(1, 0));
      kit.locks.unlock(NODE);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"IN_CARD", "IN_CARD_WITH_VERSIONS"})
  void shouldLeaveTheReadsToWhoeverWasHandedIt(Place place) throws Exception {
    LockTables tables = new LockTables(pool, place.options());
    long lock = tables.lockOf(NODE);
    try (Kit first = new Kit(pool, tables, place.options(), 0, 0);
        Kit next = new Kit(pool, tables, place.options(), 0, 1)) {
      first.locks.lock(NODE, false);
      Threads.run(
          List.of(
              () -> {
                assertThat(next.lockAndRead()).isFalse();
                return null;
              },
              () -> {
                while (!tables.localOf(lock).mayHandOver(LockTables.numberOf(lock), 1)) {
                  Thread.onSpinWait();
                }
                first.store(VALUE);
                first.locks.unlock(NODE);
                return null;
              }));
      assertThat(next.worker.counters().roundTrips).as("no verb").isZero();
      next.worker.post(next.reads);
      assertThat(next.value()).isEqualTo(VALUE);
      assertThat(next.holder()).as("as it was taken").isEqualTo(name(0, 0));
      next.locks.unlock(NODE);
      assertThat(next.holder()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void shouldLetGoAfterAFailure(int done) {
    try (Kit kit = kit(Place.IN_CARD, 0, 0);
        Kit other = kit(Place.IN_CARD, 1, 0)) {
      fabric.hookNext(
          startsWith(Kind.MASKED_CAS),
          posting -> {
            posting.postFirst(done);
            throw new UnknownOutcomeException("lost");
          });
      assertThatThrownBy(kit::lockAndRead)
          .isInstanceOfSatisfying(UnknownOutcomeException.class, kit.locks::abandon)
          .hasNoSuppressedExceptions();
      assertThat(kit.holder()).isZero();
      assertThat(other.locks.tryLock(NODE, false)).isTrue();
      assertThat(kit.locks.tryLock(NODE, false)).as("and the local one").isFalse();
      other.locks.unlock(NODE);
      assertThat(kit.lockAndRead()).isTrue();
      kit.locks.unlock(NODE);
    }
  }

  @Test
  void shouldLeaveAnothersLockAloneAfterAFailure() {
    try (Kit kit = kit(Place.IN_CARD, 0, 0);
        Kit other = kit(Place.IN_CARD, 1, 0)) {
      other.locks.lock(NODE, false);
      fabric.hookNext(
          startsWith(Kind.MASKED_CAS),
          posting -> {
            posting.post();
            throw new UnknownOutcomeException("lost");
          });
      assertThatThrownBy(kit::lockAndRead)
          .isInstanceOfSatisfying(UnknownOutcomeException.class, kit.locks::abandon);
      assertThat(kit.holder()).isEqualTo(name(1, 0));
      other.locks.unlock(NODE);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void shouldUnlockAllWhereThatFailsHalfWay(int done) {
    try (Kit kit = kit(Place.IN_CARD, 0, 0);
        Kit other = kit(Place.IN_CARD, 1, 0)) {
      long[] nodes = {NODE, NODE + 64, NODE + 128};
      for (long node : nodes) {
        kit.locks.lock(node, false);
      }
      fabric.hookNext(
          startsWith(Kind.WRITE),
          posting -> {
            posting.postFirst(done);
            throw new OutOfMemoryError("by a test");
          });
      assertThatThrownBy(kit.locks::unlockAll)
          .isInstanceOf(OutOfMemoryError.class)
          .hasNoSuppressedExceptions();
      for (long node : nodes) {
        assertThat(other.locks.tryLock(node, false)).isTrue();
        other.locks.unlock(node);
        assertThat(kit.locks.tryLock(node, false)).as("and the local one").isTrue();
        kit.locks.unlock(node);
      }
    }
  }
}
