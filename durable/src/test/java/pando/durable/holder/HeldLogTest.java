package pando.durable.holder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.Worker;
import pando.fabric.local.LocalPool;
import pando.fabric.server.CallHandler;
import pando.fabric.server.PoolOptions;
import pando.index.Threads;
import pando.journal.EntryWords;
import pando.journal.LogFailedException;
import pando.journal.RecordBuilder;
import pando.journal.RecordVisitor;

/** The log of a compute server, from its first record to its heir. */
class HeldLogTest {
  private static final ComputeServer ONE = new ComputeServer(1, 1);
  private static final int HEIR = 2;

  private final LocalPool pool =
      LocalPool.start(
          PoolOptions.defaults()
              .withMemoryServers(3)
              .withBytesPerServer(16 << 20)
              .withHandlers(List.of(new LogService())));
  private final AtomicInteger failures = new AtomicInteger();
  private final List<Fabric> fabrics = new ArrayList<>();

  private Fabric fabric(ComputeServer name) {
    Fabric fabric = pool.attach(name, 8103);
    fabrics.add(fabric);
    return fabric;
  }

  @AfterEach
  void close() {
    fabrics.forEach(Fabric::close);
  }

  private HeldLog begin(ComputeServer name) {
    return HeldLog.begin(fabric(name), name, _ -> false, failures::incrementAndGet);
  }

  private static long append(HeldLog log, RecordBuilder record, long key, long value) {
    record.putWord(key, value);
    log.reserve(record.bytes());
    return log.append(record);
  }

  /** Returns what an owner of keys replays. */
  private static Map<Long, Long> replay(Fabric fabric, LongPredicate isOwn) {
    Map<Long, Long> entries = new TreeMap<>();
    RecordVisitor visitor =
        (_, kind, key, value) -> {
          if (kind == RecordVisitor.Kind.PUT) {
            entries.put(EntryWords.key(key), EntryWords.value(value));
          } else {
            entries.remove(EntryWords.key(key));
          }
        };
    try (Holders holders = new Holders(fabric, _ -> false)) {
      new Inheritance(holders).replay(key -> isOwn.test(EntryWords.key(key)), visitor, () -> {});
    }
    return entries;
  }

  private static Map<Long, Long> replay(Fabric fabric) {
    return replay(fabric, _ -> true);
  }

  private static void end(Fabric fabric, int number, long below) {
    try (Holders holders = new Holders(fabric, _ -> false)) {
      holders.end(number, below);
    }
  }

  @Test
  void shouldGiveTheHeirAllThatIsSafe() throws Exception {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    List<Callable<Void>> writers = new ArrayList<>();
    for (int number = 0; number < 4; number++) {
      int first = number;
      writers.add(() -> {
        RecordBuilder record = new RecordBuilder();
        for (int i = 0; i < 5_000; i++) {
          long place = append(log, record, first + 4L * (i % 1_000), i);
          if (i % 100 == 0) {
            log.awaitSynced(place);
            assertThat(log.synced()).isGreaterThanOrEqualTo(place);
          }
        }
        log.awaitSynced(log.end());
        return null;
      });
    }
    Threads.run(writers);
    other.fence(1, 2);
    end(other, 1, 2);
    Map<Long, Long> replayed = replay(other);
    assertThat(replayed).hasSize(4_000);
    replayed.forEach((key, value) -> assertThat(value).isEqualTo(4_000 + key / 4));
    assertThat(replay(other)).as("once").isEmpty();
    log.close();
  }

  /** Holders are told of records' ends alone, while parts of records are on their way. */
  @Test
  void shouldBeginToReplayWhereARecordBegins() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    RecordBuilder record = new RecordBuilder();
    for (int round = 0; round < 200; round++) {
      for (int i = 0; i < 300; i++) {
        append(log, record, i, round);
      }
      log.setHead(log.end());
      log.awaitSynced(append(log, record, 300, round));
    }
    other.fence(1, 2);
    end(other, 1, 2);
    assertThat(replay(other)).containsEntry(300L, 199L);
    log.close();
  }

  /** A holder may be asked before a log begins there, and the other one after that. */
  @Test
  void shouldKeepALogThatRuns() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    assertThat(append(other, 0)).isEqualTo(8);
    assertThat(replay(other)).isEmpty();
    assertThat(append(other, 8)).as("kept").isEqualTo(16);
  }

  /** Sends bytes of the log of {@link #ONE} to holder 1 alone; returns what it has then. */
  private static long append(Fabric fabric, long place) {
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      MemorySegment frame = memory.segment();
      int bytes = LogFrame.RECORDS + 8;
      LogFrame.set(frame, LogFrame.APPEND, ONE, place, 0, 3, 8);
      frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, bytes));
      worker.call(1, LogService.FUNCTION, 0, bytes);
      return frame.get(LogFrame.LONG, LogFrame.KEPT);
    }
  }

  /** What needs a memory server that this process alone cannot reach is replayed later. */
  @Test
  void shouldReplayAllWhereNoMemoryServerIsLost() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    RecordBuilder record = new RecordBuilder();
    append(log, record, 1, 10);
    log.awaitSynced(append(log, record, 2, 20));
    other.fence(1, 2);
    end(other, 1, 2);
    RecordVisitor unreachable =
        (_, _, key, _) -> {
          if (EntryWords.key(key) == 1) {
            throw new MemoryServerLostException("of a test");
          }
        };
    assertThatThrownBy(() -> replay(other, unreachable, _ -> false))
        .isInstanceOf(MemoryServerLostException.class);
    RecordVisitor stalled =
        (_, _, _, _) -> {
          throw new StalledException("of a test");
        };
    assertThatThrownBy(() -> replay(other, stalled, server -> server == 2))
        .isInstanceOf(StalledException.class);
    replay(other, unreachable, server -> server == 2);
    assertThat(replay(other)).as("what is left").isEmpty();
    log.close();
  }

  private static void replay(Fabric fabric, RecordVisitor visitor, IntPredicate isLost) {
    try (Holders holders = new Holders(fabric, isLost)) {
      new Inheritance(holders).replay(_ -> true, visitor, () -> {});
    }
  }

  @Test
  void shouldForgetWhatIsInThePool() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    RecordBuilder record = new RecordBuilder();
    append(log, record, 1, 10);
    log.setHeadSurely(log.end());
    log.awaitSynced(append(log, record, 2, 20));
    other.fence(1, 2);
    end(other, 1, 2);
    assertThat(replay(other)).containsOnly(Map.entry(2L, 20L));
    log.close();
  }

  @Test
  void shouldFailWhereItsComputeServerIsFenced() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    RecordBuilder record = new RecordBuilder();
    log.awaitSynced(append(log, record, 1, 10));
    other.fence(1, 2);
    long place = append(log, record, 2, 20);
    assertThatThrownBy(() -> log.awaitSynced(place)).isInstanceOf(LogFailedException.class);
    assertThatThrownBy(() -> log.reserve(32)).isInstanceOf(LogFailedException.class);
    end(other, 1, 2);
    assertThat(replay(other)).containsOnly(Map.entry(1L, 10L));
    log.close();
    assertThat(failures).hasValue(1);
  }

  @Test
  void shouldBeReplayedByTheOwnerOfItsKeysAlone() {
    Fabric other = fabric(new ComputeServer(3, 1));
    RecordBuilder record = new RecordBuilder();
    HeldLog log = begin(ONE);
    log.awaitSynced(append(log, record, 1, 10));
    HeldLog ofHeir = begin(new ComputeServer(HEIR, 1));
    ofHeir.awaitSynced(append(ofHeir, record, 5, 50));
    other.fence(1, 2);
    end(other, 1, 2);
    assertThat(replay(other, key -> key == 7)).isEmpty();
    other.fence(HEIR, 2);
    end(other, HEIR, 2);
    assertThat(replay(other, key -> key == 5)).containsOnly(Map.entry(5L, 50L));
    assertThat(replay(other)).containsOnly(Map.entry(1L, 10L));
    assertThat(replay(other)).isEmpty();
    log.close();
    ofHeir.close();
  }

  @Test
  void shouldGoOnWithoutAHolderThatIsLost() {
    Fabric other = fabric(new ComputeServer(HEIR, 1));
    HeldLog log = begin(ONE);
    RecordBuilder record = new RecordBuilder();
    log.awaitSynced(append(log, record, 1, 10));
    log.lose(1);
    log.lose(1);
    log.awaitSynced(append(log, record, 2, 20));
    other.fence(1, 2);
    end(other, 1, 2);
    assertThat(replay(other)).as("of the one in force").hasSize(2);
    log.close();
  }

  /** What one holder has alone counts: the others get it before the log ends. */
  @Test
  void shouldEndWhereTheHolderHasItThatHasMost() throws Exception {
    Halting handler = new Halting();
    try (LocalPool halting =
        LocalPool.start(
            PoolOptions.defaults()
                .withMemoryServers(2)
                .withProcessorThreads(2)
                .withBytesPerServer(16 << 20)
                .withHandlers(List.of(handler)))) {
      Fabric other = halting.attach(new ComputeServer(HEIR, 1), 8104);
      HeldLog log =
          HeldLog.begin(halting.attach(ONE, 8105), ONE, _ -> false, failures::incrementAndGet);
      RecordBuilder record = new RecordBuilder();
      log.awaitSynced(append(log, record, 1, 10));
      handler.halts = true;
      for (long key = 2; key <= 1_000; key++) {
        append(log, record, key, 10 * key);
      }
      while (kept(other, 0) < log.end()) {
        Thread.onSpinWait();
      }
      assertThat(kept(other, 1)).isEqualTo(32);
      handler.halts = false;
      other.fence(1, 2);
      end(other, 1, 2);
      assertThat(kept(other, 1)).isEqualTo(kept(other, 0)).isEqualTo(log.end());
      assertThat(replay(other)).hasSize(1_000);
      log.close();
      other.close();
    }
  }

  /** Returns up to where a holder has the log that it has. */
  private static long kept(Fabric fabric, int holder) {
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        Worker worker = fabric.worker(memory)) {
      MemorySegment frame = memory.segment();
      LogFrame.set(frame, LogFrame.LIST, ONE, 0, 0, 0, 0);
      frame.set(LogFrame.INT, LogFrame.SUM, LogFrame.sum(frame, LogFrame.RECORDS));
      worker.call(holder, LogService.FUNCTION, 0, LogFrame.RECORDS);
      return LogCopy.read(frame, LogFrame.COPIES).kept();
    }
  }

  /** Holds logs, and refuses what is appended at memory server 1 while it halts. */
  private static final class Halting implements CallHandler {
    private final LogService service = new LogService();
    private volatile boolean halts;

    @Override
    public int function() {
      return service.function();
    }

    @Override
    public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
      boolean appends =
          requestBytes > 0 && message.get(LogFrame.INT, LogFrame.KIND) == LogFrame.APPEND;
      if (halts && server == 1 && appends) {
        while (halts) {
          Thread.onSpinWait();
        }
        throw new IllegalStateException("halted by a test");
      }
      return service.handle(server, dram, message, requestBytes);
    }
  }
}
