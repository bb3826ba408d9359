package pando.durable;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;
import pando.journal.DataFolder;
import pando.journal.FaultyFolder;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;
import pando.sim.history.History;
import pando.sim.history.HistoryCheck;
import pando.sim.history.RecordedOperation;
import pando.sim.history.RecordedOperation.Kind;

/**
 * Threads operate on the same few keys, the power fails, and others go on with what is left: all
 * that was answered before and after fits one order of the operations.
 */
@Timeout(300)
class CrashHistoryTest {
  private static final int HISTORIES = Seeds.count(1, 50, 500);
  private static final int CRASHES = 4;
  private static final int THREADS = 4;
  private static final int OPERATIONS = 60;
  private static final int KEYS = 6;
  private static final List<Kind> KINDS = List.of(Kind.values());

  private final History history = new History();
  private int clients;

  /** An operation of a thread on a machine that fails, or has not failed yet. */
  private record Done(RecordedOperation operation, long end) {}

  @Test
  void shouldHaveOneOrderAcrossCrashes() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(90));
    for (int i = 0; i < HISTORIES; i++) {
      CrashHistoryTest each = new CrashHistoryTest();
      each.run(random.split());
      assertThat(HistoryCheck.violations(each.history)).as("history %s", i).isEmpty();
      assertThat(each.history.operations()).hasSizeGreaterThan(CRASHES);
    }
  }

  private void run(SplittableRandom random) throws Exception {
    FaultyFolder disk = new FaultyFolder();
    for (int crash = 0; crash < CRASHES; crash++) {
      disk = operateUntilCrash(disk, random);
    }
  }

  /** Returns the disk as the crash of a moment leaves it; what is done later is on no disk. */
  private FaultyFolder operateUntilCrash(FaultyFolder disk, SplittableRandom random)
      throws Exception {
    LogOptions options =
        LogOptions.defaults().withSync(SyncPolicy.ALWAYS).withSegmentBytes(1 << 20);
    List<List<Done>> done = new ArrayList<>();
    long[] crash = new long[2];
    List<FaultyFolder> left = new ArrayList<>();
    try (Fabric fabric = Pools.open(2, 64 << 20, 90);
        DataFolder folder = disk.open(DurableIndex.KIND, options);
        DurableIndex index = DurableIndex.open(folder, OrcaOptions.defaults(), fabric)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        SplittableRandom own = random.split();
        List<Done> its = new ArrayList<>();
        done.add(its);
        int client = clients++;
        tasks.add(() -> {
          try (Session session = index.session()) {
            for (int n = 0; n < OPERATIONS; n++) {
              its.add(operate(session, client, n, own));
            }
            return null;
          }
        });
      }
      int wanted = 1 + random.nextInt(OPERATIONS);
      SplittableRandom own = random.split();
      tasks.add(() -> {
        awaitRecords(disk, wanted);
        crash[0] = System.nanoTime();
        left.add(disk.crash(own));
        crash[1] = System.nanoTime();
        return null;
      });
      Threads.run(tasks);
    }
    done.forEach(its -> its.forEach(each -> add(each, crash[0], crash[1])));
    return left.getFirst();
  }

  /** Waits until some changes are in the log, or it is clear that no more come. */
  @SuppressWarnings("ThreadPriorityCheck")
  private static void awaitRecords(FaultyFolder disk, int wanted) throws IOException {
    for (int i = 0; i < 1_000 && disk.records() < wanted; i++) {
      Thread.yield();
    }
  }

  /** Adds what a client learned before a crash began, or may not have learned any more. */
  private void add(Done done, long before, long after) {
    RecordedOperation operation = done.operation();
    if (done.end() < before) {
      history.add(operation);
    } else if (operation.start() <= after && operation.kind() != Kind.GET) {
      history.add(
          RecordedOperation.unknown(
              operation.client(),
              operation.start(),
              operation.kind(),
              operation.key(),
              operation.stored(),
              operation.expected()));
    }
  }

  private static Done operate(Session session, int client, int number, SplittableRandom random) {
    long key = random.nextLong(KEYS);
    long stored = ((long) client << 32) | (number + 1);
    long expected = random.nextBoolean() && session.get(key) ? session.value() : stored;
    Kind kind = KINDS.get(random.nextInt(KINDS.size()));
    long start = System.nanoTime();
    @Nullable Long before = operate(session, kind, key, stored, expected);
    long end = System.nanoTime();
    return new Done(
        new RecordedOperation(client, start, end, kind, key, stored, expected, before), end);
  }

  /** Returns what was there before; {@code null} if nothing was, or it is not said. */
  private static @Nullable Long operate(
      Session session, Kind kind, long key, long stored, long expected) {
    boolean found =
        switch (kind) {
          case GET -> session.get(key);
          case PUT -> session.put(key, stored);
          case PUT_IF_ABSENT -> !session.putIfAbsent(key, stored);
          case UPDATE -> session.update(key, stored);
          case REMOVE -> session.remove(key);
          case STORE -> {
            session.store(key, stored);
            yield false;
          }
          case DISCARD -> {
            session.discard(key);
            yield false;
          }
          case REPLACE -> session.replace(key, expected, stored) || session.value() != 0;
          case REMOVE_EXPECTED -> session.remove(key, expected) || session.value() != 0;
        };
    return found ? session.value() : null;
  }
}
