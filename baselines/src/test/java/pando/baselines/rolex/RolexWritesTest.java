package pando.baselines.rolex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.local.LocalFabric;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.session.Operation;

/** Writes by CALL: what they cost, who keeps them away, and requests that make no sense. */
@Tag("campaign")
@Timeout(300)
class RolexWritesTest {
  private static final int ENTRIES = 1_000;
  private static final int DELTA = 4;
  private static final int LEAVES = 2;
  private static final long OWNER = 0x201;

  /** Where a run and two synonym leaves are made by hand. */
  private static final long RUN = 64 << 10;

  private static final long FIRST_SYNONYM = RUN + 1024;
  private static final long SECOND_SYNONYM = RUN + 2048;
  private static final long STAMP = 77L << 50;
  private static final long PLACE = RunLayout.place(RUN, LEAVES);

  /** Where there is room in local memory for a run, behind the message. */
  private static final long IMAGE = Worker.CALL_BYTES_MAX + 64;

  private final RolexLeafLayout layout = new RolexLeafLayout(DELTA);
  private final RunLayout runs = new RunLayout(layout.bytes());

  private Fabric fabric;
  private RegisteredMemory registered;
  private Worker worker;
  private MemorySegment memory;

  @BeforeEach
  void open() {
    fabric = Pools.open(1, 1 << 20, 1201);
    registered = fabric.register(IMAGE + 4096);
    worker = fabric.worker(registered);
    memory = worker.memory();
  }

  @AfterEach
  void close() {
    worker.close();
    registered.close();
    fabric.close();
  }

  @Test
  void shouldWriteByOneCallWhereNothingIsInTheWay() {
    NavigableMap<Long, Long> model = Entries.random(new SplittableRandom(Seeds.of(1202)), ENTRIES);
    RolexOptions options = RolexOptions.xstoreD().withComputeServers(1).with("retraining", "off");
    try (RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      index.bulkLoad(Entries.of(model), 0.5);
      model.keySet().forEach(session::get);
      long key = model.ceilingKey(0L);
      checkOneCall(index, () -> assertThat(session.put(key, 1)).isTrue());
      assertThat(session.value()).isEqualTo(model.get(key));
      checkOneCall(index, () -> assertThat(session.update(key, 2)).isTrue());
      checkOneCall(index, () -> assertThat(session.putIfAbsent(key, 3)).isFalse());
      assertThat(session.value()).isEqualTo(2);
      checkOneCall(index, () -> assertThat(session.remove(key)).isTrue());
      checkOneCall(index, () -> assertThat(session.remove(key)).isFalse());
      checkOneCall(index, () -> assertThat(session.update(key, 4)).isFalse());
      checkOneCall(index, () -> assertThat(session.putIfAbsent(key, 5)).isTrue());
      VerbCounters before = index.verbs();
      assertThat(session.get(key)).isTrue();
      assertThat(index.verbs().reads - before.reads).isEqualTo(1);
      assertThat(session.value()).isEqualTo(5);
    }
  }

  private static void checkOneCall(RolexIndex index, Runnable write) {
    VerbCounters before = index.verbs();
    write.run();
    VerbCounters verbs = index.verbs();
    verbs.subtract(before);
    assertThat(verbs.calls).isEqualTo(1);
    assertThat(verbs.roundTrips).isEqualTo(1);
    assertThat(verbs.reads + verbs.writes + verbs.atomics).isZero();
  }

  @Test
  void shouldRefuseAPoolWithoutTheHandler() {
    try (Fabric bare = LocalFabric.open(PoolOptions.defaults().withBytesPerServer(16 << 20))) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> RolexIndex.create(bare, RolexOptions.xstoreD()))
          .withMessageContaining("the handler of xstore-d")
          .withCauseInstanceOf(CallFailedException.class);
    }
  }

  @Test
  void shouldTurnWritesAwayFromAFrozenRun() {
    RolexOptions options =
        RolexOptions.xstoreD().withComputeServers(1).with("lock-wait-millis", "20");
    try (RolexIndex index = RolexIndex.create(fabric, options);
        Session session = index.session()) {
      session.put(1, 2);
      long place = placeOfTheOnlyRun();
      long gate = RunLayout.frozen(place, OWNER, 1);
      assertThat(changeGate(WriteMessage.FREEZE, place, gate)).isEqualTo(WriteMessage.FOUND);
      assertThat(changeGate(WriteMessage.FREEZE, place, gate)).isEqualTo(WriteMessage.FOUND);
      long other = RunLayout.frozen(place, OWNER, 2);
      assertThat(changeGate(WriteMessage.FREEZE, place, other)).isEqualTo(WriteMessage.BUSY);
      assertThat(changeGate(WriteMessage.THAW, place, other)).isEqualTo(WriteMessage.FOUND);
      assertThatExceptionOfType(StalledException.class)
          .isThrownBy(() -> session.put(1, 3))
          .withMessageContaining("holder=computeServer 0 session 1");
      assertThat(session.get(1)).isTrue();
      assertThat(session.value()).isEqualTo(2);
      changeGate(WriteMessage.THAW, place, gate);
      assertThat(session.put(1, 3)).isTrue();
    }
  }

  /** Returns the place that a run's gate tells: an empty index has one, at the start of a chunk. */
  private long placeOfTheOnlyRun() {
    long bytes = fabric.dramBytes(0);
    for (long at = Fabric.CATALOGUE_BYTES; at < bytes; at += 64) {
      worker.read(at + RunLayout.GATE, IMAGE, Long.BYTES);
      if (Words.get(memory, IMAGE) == RunLayout.place(at, 1)) {
        return RunLayout.place(at, 1);
      }
    }
    throw new AssertionError("no run");
  }

  private long changeGate(long operation, long place, long gate) {
    WriteMessage.set(memory, 0, WriteMessage.OPERATION, operation);
    WriteMessage.set(memory, 0, WriteMessage.PLACE, place);
    WriteMessage.set(memory, 0, WriteMessage.GATE, gate);
    call(WriteMessage.FREEZE_BYTES);
    return WriteMessage.get(memory, 0, WriteMessage.STATUS);
  }

  private void call(int bytes) {
    worker.call(0, RolexWrites.FUNCTION, 0, bytes);
  }

  /** Makes a run: leaves for the keys below 100, full, and for the others, empty. */
  private void makeRun(long link) {
    memory.asSlice(IMAGE).fill((byte) 0);
    RunLayout.setGate(memory, IMAGE, PLACE);
    makeLeaf(IMAGE + runs.leafOffset(0), runs.leafAddress(PLACE, 0), 0, 99, link, DELTA);
    makeLeaf(IMAGE + runs.leafOffset(1), runs.leafAddress(PLACE, 1), 100, 199, 0, 0);
    worker.write(RUN, IMAGE, runs.bytes(LEAVES));
  }

  private void makeLeaf(long image, long address, long low, long high, long link, int entries) {
    RolexLeafLayout.format(memory, image, low, high, link);
    for (int i = 0; i < entries; i++) {
      RolexLeafLayout.append(memory, image, 10L * (i + 1), i);
    }
    RolexLeafLayout.seal(memory, image, RolexLeafLayout.identity(address, STAMP));
  }

  private void makeSynonym(long address, long link) {
    makeLeaf(IMAGE, address, 0, 99, link, DELTA);
    worker.write(address, IMAGE, layout.bytes());
  }

  private void request(Operation operation, long key, long spare) {
    WriteMessage.set(memory, 0, WriteMessage.OPERATION, operation.code);
    WriteMessage.set(memory, 0, WriteMessage.PLACE, PLACE);
    WriteMessage.set(memory, 0, WriteMessage.KEY, key);
    WriteMessage.set(memory, 0, WriteMessage.VALUE, 7);
    WriteMessage.set(memory, 0, WriteMessage.FIRST, 0);
    WriteMessage.set(memory, 0, WriteMessage.LAST, 1);
    WriteMessage.set(memory, 0, WriteMessage.DELTA, DELTA);
    WriteMessage.set(memory, 0, WriteMessage.SPARE, spare);
    WriteMessage.set(memory, 0, WriteMessage.STAMP, STAMP);
  }

  private long write(Operation operation, long key, long spare) {
    request(operation, key, spare);
    call(WriteMessage.WRITE_BYTES);
    return WriteMessage.get(memory, 0, WriteMessage.STATUS);
  }

  private long answer(int field) {
    return WriteMessage.get(memory, 0, field);
  }

  @Test
  void shouldLinkASpareInAndGiveItBack() {
    makeRun(GlobalAddress.NULL);
    assertThat(write(Operation.PUT, 5, 0)).isEqualTo(WriteMessage.NEEDS_SPARE);
    assertThat(write(Operation.PUT, 5, FIRST_SYNONYM)).isEqualTo(WriteMessage.ABSENT);
    assertThat(answer(WriteMessage.LINK)).isEqualTo(FIRST_SYNONYM);
    assertThat(answer(WriteMessage.SYNONYMS)).isEqualTo(1);
    assertThat(write(Operation.PUT, 6, SECOND_SYNONYM)).isEqualTo(WriteMessage.ABSENT);
    assertThat(answer(WriteMessage.LINK)).isEqualTo(FIRST_SYNONYM);
    assertThat(answer(WriteMessage.SYNONYMS)).isZero();
    assertThat(answer(WriteMessage.HOPS)).isEqualTo(1);
    assertThat(write(Operation.REMOVE, 5, 0)).isEqualTo(WriteMessage.FOUND);
    assertThat(answer(WriteMessage.BEFORE)).isEqualTo(7);
    assertThat(answer(WriteMessage.FREED)).isZero();
    assertThat(write(Operation.REMOVE, 6, 0)).isEqualTo(WriteMessage.FOUND);
    assertThat(answer(WriteMessage.FREED)).isEqualTo(FIRST_SYNONYM);
    assertThat(answer(WriteMessage.LINK)).isZero();
    for (int key = 10; key <= 40; key += 10) {
      assertThat(write(Operation.REMOVE, key, 0)).isEqualTo(WriteMessage.FOUND);
      assertThat(answer(WriteMessage.EMPTIES)).isEqualTo(key == 40 ? 1 : 0);
    }
  }

  @Test
  void shouldNotGoRoundInACircle() {
    makeSynonym(FIRST_SYNONYM, SECOND_SYNONYM);
    makeSynonym(SECOND_SYNONYM, FIRST_SYNONYM);
    makeRun(FIRST_SYNONYM);
    assertThat(write(Operation.PUT, 5, 0)).isEqualTo(WriteMessage.CORRUPT);
    makeSynonym(SECOND_SYNONYM, SECOND_SYNONYM);
    assertThat(write(Operation.PUT, 5, 0)).isEqualTo(WriteMessage.CORRUPT);
    makeSynonym(SECOND_SYNONYM, RUN);
    assertThat(write(Operation.PUT, 5, 0)).isEqualTo(WriteMessage.CORRUPT);
    assertThat(answer(WriteMessage.BEFORE)).isEqualTo(RUN);
    makeSynonym(SECOND_SYNONYM, 1L << 40);
    assertThat(write(Operation.PUT, 5, 0)).isEqualTo(WriteMessage.CORRUPT);
    assertThat(answer(WriteMessage.BEFORE)).isEqualTo(1L << 40);
  }

  @Test
  void shouldLeaveADamagedRunAsItIs() {
    makeRun(GlobalAddress.NULL);
    memory.asSlice(IMAGE).fill((byte) -1);
    worker.write(runs.leafAddress(PLACE, 0) + 40, IMAGE, Long.BYTES);
    assertThat(write(Operation.UPDATE, 20, 0)).isEqualTo(WriteMessage.STALE);
    assertThat(write(Operation.PUT, 300, 0)).isEqualTo(WriteMessage.STALE);
    assertThat(write(Operation.PUT, 150, 0)).isEqualTo(WriteMessage.ABSENT);
    worker.write(RUN + RunLayout.GATE, IMAGE, Long.BYTES);
    assertThat(write(Operation.PUT, 150, 0)).isEqualTo(WriteMessage.STALE);
  }

  @Test
  void shouldRefuseRequestsOfTheWrongLength() {
    makeRun(GlobalAddress.NULL);
    for (int bytes : new int[] {7, 8, 24, 64, 71, 73, Worker.CALL_BYTES_MAX}) {
      request(Operation.PUT, 150, 0);
      assertThatThrownBy(() -> call(bytes)).isInstanceOf(CallFailedException.class);
    }
    WriteMessage.set(memory, 0, WriteMessage.OPERATION, WriteMessage.FREEZE);
    assertThatThrownBy(() -> call(WriteMessage.WRITE_BYTES))
        .isInstanceOf(CallFailedException.class);
    assertThat(write(Operation.PUT, 150, 0)).isEqualTo(WriteMessage.ABSENT);
  }

  @Test
  void shouldAnswerOrRefuseWhateverItIsAsked() {
    SplittableRandom random = new SplittableRandom(Seeds.of(1203));
    long end = fabric.dramBytes(0);
    long[] words = {
      0,
      1,
      2,
      3,
      5,
      16,
      17,
      18,
      61,
      63,
      -1,
      Long.MIN_VALUE,
      Long.MAX_VALUE,
      1L << 32,
      end,
      RunLayout.place(end - 64, LEAVES),
      RunLayout.place(end, 1),
      RunLayout.place(0, 1),
      RunLayout.place(GlobalAddress.of(1, RUN), LEAVES),
      RunLayout.place(GlobalAddress.onChip(0, 64), LEAVES),
      GlobalAddress.swizzled(PLACE),
      RunLayout.place(RUN, 63),
      end - 64,
      RUN + 8,
      RUN,
    };
    int answered = 0;
    for (int i = 0; i < 20_000; i++) {
      if (i % 100 == 0) {
        makeRun(GlobalAddress.NULL);
      }
      request(Operation.PUT, 5 + 10L * random.nextInt(12), 0);
      for (int changes = random.nextInt(3); changes >= 0; changes--) {
        int field = Long.BYTES * random.nextInt(WriteMessage.WRITE_BYTES / Long.BYTES);
        long word =
            random.nextInt(8) == 0 ? random.nextLong() : words[random.nextInt(words.length)];
        WriteMessage.set(memory, 0, field, word);
      }
      try {
        call(random.nextInt(4) == 0 ? WriteMessage.FREEZE_BYTES : WriteMessage.WRITE_BYTES);
        answered++;
      } catch (CallFailedException refused) {
        assertThat(refused).hasMessageContaining("the handler threw");
      }
    }
    System.out.println("answered: " + answered);
    assertThat(answered).isBetween(1_000, 19_000);
    makeRun(GlobalAddress.NULL);
    assertThat(write(Operation.PUT, 150, 0)).isEqualTo(WriteMessage.ABSENT);
  }
}
