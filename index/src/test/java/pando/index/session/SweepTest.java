package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.index.CorruptNodeException;
import pando.index.Pools;

/** What a walk over all that is unwritten does about failures. */
@Timeout(60)
class SweepTest {
  private final Fabric fabric = Pools.open(1, 16 << 20, 93);
  private final RegisteredMemory memory = fabric.register(64);
  private final Worker worker = fabric.worker(memory);
  private final WriteBack writeBack =
      new WriteBack(true, 1_000, () -> {}, _ -> {}, () -> new Steps(List.of()));

  @AfterEach
  void close() {
    worker.close();
    memory.close();
    fabric.close();
  }

  /** A walk whose parts fail, or are held by others, until they are written. */
  private final class Steps extends Sweep {
    private final List<Part> parts;
    private int next;

    Steps(List<Part> parts) {
      super(writeBack, worker, new Gate().pass(worker));
      this.parts = parts;
    }

    @Override
    protected void rewind() {
      next = 0;
    }

    @Override
    protected boolean write() {
      if (next == parts.size()) {
        return false;
      }
      Part part = parts.get(next++);
      if (part.heldFor > 0) {
        part.heldFor--;
        leaveOut();
      } else {
        part.failure.run();
        part.isWritten = true;
      }
      return true;
    }
  }

  /** Something that is written unless it fails. */
  private static final class Part {
    private final Runnable failure;
    private int heldFor;
    private boolean isWritten;

    Part(int heldFor, Runnable failure) {
      this.heldFor = heldFor;
      this.failure = failure;
    }
  }

  private static Part held(int attempts) {
    return new Part(attempts, () -> {});
  }

  private static Part lost() {
    return new Part(
        0,
        () -> {
          throw new MemoryServerLostException("of a test");
        });
  }

  private static Part damaged() {
    return new Part(
        0,
        () -> {
          throw new CorruptNodeException(64, "of a test");
        });
  }

  private static Part full() {
    return new Part(
        0,
        () -> {
          throw new PoolFullException("of a test");
        });
  }

  private void assertFails(Class<? extends Throwable> type, Part... all) {
    List<Part> parts = new ArrayList<>(List.of(all));
    assertThatThrownBy(() -> new Steps(parts).writeAll()).isInstanceOf(type);
  }

  @Test
  void shouldWriteAllElseThanWhatIsGone() {
    Part first = held(3);
    Part last = held(1);
    assertFails(MemoryServerLostException.class, first, lost(), last);
    assertThat(first.isWritten && last.isWritten).isTrue();
    Part other = held(2);
    assertFails(CorruptNodeException.class, damaged(), other);
    assertThat(other.isWritten).isTrue();
  }

  @Test
  void shouldFailByWhatMaySucceedLater() {
    assertFails(PoolFullException.class, lost(), full(), damaged());
    assertFails(PoolFullException.class, full(), lost());
    assertFails(MemoryServerLostException.class, damaged(), lost(), damaged());
  }

  @Test
  void shouldTryAgainWhatOthersHold() {
    Part part = held(5);
    new Steps(List.of(part)).writeAll();
    assertThat(part.isWritten).isTrue();
  }
}
