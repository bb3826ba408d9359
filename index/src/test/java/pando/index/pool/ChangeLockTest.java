package pando.index.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.index.HookedFabric;
import pando.index.Pools;

/** The lock of the partition table, whose holder may be gone. */
@Timeout(300)
class ChangeLockTest {
  private final HookedFabric fabric = new HookedFabric(Pools.open(1, 1 << 20, 891));

  @AfterEach
  void close() {
    fabric.close();
  }

  private PoolChange change() {
    return new PoolChange(fabric, 1024, new NodePlaces(fabric, 1024), 1, verbs -> {});
  }

  private static boolean isOfLock(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) == Kind.CAS && verbs.remote(0) == Catalogue.LOCK;
  }

  private void exchangeWord(long expected, long word) {
    try (RegisteredMemory memory = fabric.register(64);
        Worker worker = fabric.worker(memory)) {
      assertThat(worker.cas(Catalogue.LOCK, expected, word)).isEqualTo(expected);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void shouldBeTakenFromAProcessThatIsGone() throws IOException, InterruptedException {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();
    exchangeWord(0, gone.pid() << (Long.SIZE - Fabric.PROCESS_BITS / 2));
    try (PoolChange change = change()) {
      change.lock();
    }
    exchangeWord(0, 0);
  }

  @Test
  void shouldBeTakenFromAChangeThatCouldNotUnlock() {
    PoolChange broken = change();
    broken.lock();
    fabric.hookEach(
        ChangeLockTest::isOfLock,
        posting -> {
          throw new MemoryServerLostException("not reached in a test");
        });
    assertThatThrownBy(broken::close).isInstanceOf(MemoryServerLostException.class);
    fabric.unhook();
    try (PoolChange change = change()) {
      change.lock();
    }
    exchangeWord(0, 0);
  }

  @Test
  void shouldNameAHolderThatStillRuns() {
    try (PoolChange holder = change();
        PoolChange waiter = change()) {
      holder.lock();
      fabric.hookEach(
          ChangeLockTest::isOfLock,
          posting -> {
            fabric.letTimePass(TimeUnit.SECONDS.toNanos(1));
            posting.post();
          });
      assertThatThrownBy(waiter::lock)
          .isInstanceOf(StalledException.class)
          .hasMessageContaining("still runs")
          .hasMessageContaining("process=0x" + Long.toHexString(fabric.process()));
      fabric.unhook();
    }
    exchangeWord(0, 0);
  }

  @Test
  void shouldTakeBackWhatWasNotAnswered() {
    try (PoolChange change = change()) {
      fabric.hookNext(
          ChangeLockTest::isOfLock,
          posting -> {
            posting.post();
            throw new UnknownOutcomeException("not answered by a test");
          });
      assertThatThrownBy(change::lock).isInstanceOf(UnknownOutcomeException.class);
    }
    exchangeWord(0, 0);
  }
}
