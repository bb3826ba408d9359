package pando.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The disk fails, is full, or loses power while a folder is opened. */
class FolderFaultsTest {
  private static final int CHANGES = JournalSeeds.count(70, 120, 120);
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);

  private final long seed = Long.getLong("pando.seed", System.nanoTime());
  private final SplittableRandom random = new SplittableRandom(seed);

  /** Makes a value of 1,000 bytes, so that few of them fill a segment. */
  private static RecordBuilder record(int number) {
    return new RecordBuilder()
        .put(
            MemorySegment.ofArray(new byte[] {(byte) number}),
            MemorySegment.ofArray(new byte[1000]));
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoseNothingWhereAStepFails(SyncPolicy policy) throws IOException {
    boolean failed = true;
    for (long step = 1; failed; step++) {
      FaultyDisk disk = new FaultyDisk();
      FolderScript script = new FolderScript(seed, policy);
      disk.failAt(step);
      long failing = step;
      AtomicReference<String> text = new AtomicReference<>("");
      disk.withHook((number, its) -> {
        if (number == failing) {
          text.set(its);
        }
      });
      failed = !script.runUntilFailure(disk, changes(policy)) || disk.steps() >= step;
      disk.heal();
      try {
        script.check(disk.crash(random), script.safe());
        script.check(disk.kill(), script.safe());
        script.run(disk, changes(policy));
        script.check(disk.kill(), script.safe());
        if (!"force of the folder".equals(text.get())) { // Behind that no name is ever safe.
          script.check(disk.crash(random), script.safe());
        }
      } catch (Throwable e) {
        throw new AssertionError("pando.seed=%s, step=%s, %s".formatted(seed, step, text), e);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoseNothingWhereOpeningIsCutOff(SyncPolicy policy) throws IOException {
    FaultyDisk disk = new FaultyDisk();
    FolderScript script = new FolderScript(seed, policy);
    script.run(disk, changes(policy));
    List<FaultyDisk> first = new ArrayList<>();
    disk.withHook((_, _) -> {
      synchronized (first) {
        first.add(disk.crash(random));
      }
    });
    int before = script.safe();
    script.run(disk, changes(policy));
    try {
      for (FaultyDisk crashed : first) {
        List<FaultyDisk> second = new ArrayList<>();
        crashed.withHook((_, _) -> second.add(crashed.crash(random)));
        script.check(crashed, before);
        crashed.withHook((_, _) -> {});
        for (FaultyDisk again : second) {
          script.check(again, before);
        }
      }
    } catch (Throwable e) {
      throw new AssertionError("pando.seed=" + seed, e);
    }
  }

  private static int changes(SyncPolicy policy) {
    // Each change that is forced is a step: the checks grow with the square of the changes.
    return policy == SyncPolicy.ALWAYS ? JournalSeeds.count(30, 120, 120) : CHANGES;
  }

  @Test
  void shouldFailOnceAForceFails() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    DataFolder folder = DataFolder.open(disk, "words", SMALL.withSync(SyncPolicy.ALWAYS), () -> {});
    Log log = folder.begin();
    log.reserve(record(1).bytes());
    disk.failForces();
    long lsn = log.append(record(1));
    assertThatThrownBy(() -> log.awaitSynced(lsn))
        .isInstanceOf(LogFailedException.class)
        .hasMessageContaining("Input/output error");
    disk.heal();
    assertThatThrownBy(() -> log.reserve(32)).isInstanceOf(LogFailedException.class);
    assertThat(log.synced()).isLessThan(lsn);
    List<Long> told = new ArrayList<>();
    log.whenSynced(lsn, () -> told.add(log.synced()));
    assertThat(told).hasSize(1);
    assertThat(log.hindrance()).isPresent();
    assertThatThrownBy(folder::close).isInstanceOf(LogFailedException.class);
  }

  @Test
  void shouldRefuseChangesWhileTheDiskIsFullAndGoOnBehindThat() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    try (DataFolder folder = DataFolder.open(disk, "words", SMALL, () -> {})) {
      Log log = folder.begin();
      disk.fillUp();
      int made = appendUntilFull(log);
      assertThat(made).isGreaterThan(10);
      assertThatThrownBy(() -> log.reserve(record(1).bytes()))
          .isInstanceOf(LogFullException.class)
          .hasMessageContaining("No space left on device");
      assertThat(log.hindrance()).isPresent();
      disk.heal();
      boolean hasRoom = false;
      while (!hasRoom) {
        hasRoom = appends(log, made);
      }
      assertThat(log.hindrance()).isEmpty();
    }
    try (DataFolder folder = DataFolder.open(disk, "words", SMALL, () -> {})) {
      assertThat(FolderScript.read(folder)).isNotEmpty();
    }
  }

  private static int appendUntilFull(Log log) {
    int made = 0;
    while (appends(log, made)) {
      made++;
    }
    return made;
  }

  private static boolean appends(Log log, int number) {
    try {
      log.reserve(record(number).bytes());
    } catch (LogFullException e) {
      return false;
    }
    log.append(record(number));
    return true;
  }

  /** It tries again each second: what it had written before must not stay. */
  @Test
  void shouldLeaveNoFilesWhereTheManifestCannotBeWritten() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    try (DataFolder folder =
        DataFolder.open(disk, "words", SMALL.withSync(SyncPolicy.NO), () -> {})) {
      Log log = folder.begin();
      disk.withHook((number, step) -> {
        if (step.equals("create manifest.new")) {
          disk.failAt(number);
        }
      });
      assertThat(appendUntilFull(log)).isGreaterThan(100);
      assertThat(disk.list()).noneMatch(name -> name.startsWith("sorted-"));
      disk.withHook((_, _) -> {});
    }
  }

  @Test
  void shouldServeReadsWhereTheDiskIsFullWhenItIsOpened() throws IOException {
    FaultyDisk disk = new FaultyDisk();
    FolderScript script = new FolderScript(seed, SyncPolicy.EVERYSEC);
    script.run(disk, CHANGES);
    disk.fillUp();
    try (DataFolder folder = script.open(disk)) {
      int size = FolderScript.read(folder).size();
      Log log = folder.begin();
      assertThatThrownBy(() -> log.reserve(32)).isInstanceOf(LogFullException.class);
      disk.heal();
      boolean hasRoom = false;
      while (!hasRoom) {
        hasRoom = appends(log, 1);
      }
      assertThat(size).isPositive();
    }
  }

  @Test
  void shouldTellAllThatWaitWhereOneThrows() throws Exception {
    FaultyDisk disk = new FaultyDisk();
    DataFolder folder = DataFolder.open(disk, "words", SMALL.withSync(SyncPolicy.NO), () -> {});
    Log log = folder.begin();
    log.reserve(2 * record(1).bytes());
    long first = log.append(record(1));
    long second = log.append(record(2));
    CountDownLatch bothWait = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    disk.withHook((_, text) -> {
      if (text.startsWith("force log-")) {
        await(bothWait);
      }
    });
    log.whenSynced(
        first,
        () -> {
          throw new IllegalStateException("a task that throws");
        });
    log.whenSynced(second, told::countDown);
    bothWait.countDown();
    assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(folder::close)
        .isInstanceOf(LogFailedException.class)
        .hasMessageContaining("a task that throws");
  }

  @Test
  void shouldStayLockedUntilAllIsOnTheDiskWhereTwoClose() throws Exception {
    FaultyDisk disk = new FaultyDisk();
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch forces = new CountDownLatch(1);
    CountDownLatch mayForce = new CountDownLatch(1);
    DataFolder folder =
        DataFolder.open(disk, "words", SMALL.withSync(SyncPolicy.NO), () -> order.add("unlocked"));
    Log log = folder.begin();
    log.reserve(record(1).bytes());
    log.append(record(1));
    disk.withHook((_, text) -> {
      if (text.startsWith("force log-")) {
        forces.countDown();
        await(mayForce);
        order.add("forced");
      }
    });
    Thread first = Thread.ofPlatform().start(folder::close);
    await(forces);
    Thread second = Thread.ofPlatform().start(folder::close);
    while (second.getState() == Thread.State.NEW || second.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
    mayForce.countDown();
    first.join();
    second.join();
    assertThat(order).startsWith("forced").endsWith("unlocked");
    assertThat(order.indexOf("unlocked")).isGreaterThan(order.lastIndexOf("forced"));
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
