package pando.fabric.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.TestHandlers;
import pando.fabric.Worker;
import pando.fabric.base.Owner;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.SharedMemory;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.server.PoolOptions;

/** What clients that died, or that write nonsense, leave in a mailbox. */
@EnabledOnOs(OS.LINUX)
@Timeout(300)
class SharedMailboxTest {
  /** No process has so high a number. */
  private static final long DEAD = 4_194_303L << 42 | 1;

  @TempDir private Path parent;
  private ShmMemoryServer server;
  private Fabric fabric;
  private RegisteredMemory memory;
  private SharedMemory peer;
  private MemorySegment mailbox;

  @BeforeEach
  void start() {
    System.setProperty(Registry.DIRECTORY_PROPERTY, parent.resolve("registry").toString());
    PoolOptions options =
        PoolOptions.defaults()
            .withBytesPerServer(1 << 20)
            .withChunkBytes(64 << 10)
            .withHandlers(TestHandlers.all());
    server = ShmMemoryServer.start("m0", 0, options);
    fabric = ShmFabric.attach(List.of("m0"), 1);
    memory = fabric.register(8192);
    ServerLayout layout = new ServerLayout(options.bytesPerServer(), options.chunkBytes());
    RegistryEntry entry = Registry.open().find("m0");
    peer = SharedMemory.attach(Owner.pid(entry.owner()), entry.descriptor(), layout.bytes());
    mailbox = peer.segment().asSlice(layout.mailboxOffset(), MailboxLayout.BYTES);
  }

  @AfterEach
  void end() {
    fabric.close();
    memory.close();
    peer.close();
    server.close();
    System.clearProperty(Registry.DIRECTORY_PROPERTY);
  }

  @Test
  void shouldReclaimTheSlotsOfDeadProcessesWhateverTheirState() {
    assertThat(Owner.isAlive(DEAD)).isFalse();
    assertThat(Owner.isAlive(Owner.self())).isTrue();
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      set(slot, MailboxLayout.OWNER_OFFSET, DEAD);
      set(slot, MailboxLayout.STATE_OFFSET, slot % 6);
    }
    for (int i = 0; i < 2; i++) {
      Worker worker = fabric.worker(memory);
      for (int call = 0; call < 10; call++) {
        assertThat(worker.call(0, TestHandlers.INCREMENT, 0, 8)).isEqualTo(8);
      }
    }
  }

  @Test
  void shouldFindTheSlotOfADeadProcessAmongThoseInUse() {
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      set(slot, MailboxLayout.OWNER_OFFSET, Owner.self());
    }
    int slot = 777;
    set(slot, MailboxLayout.OWNER_OFFSET, DEAD);
    set(slot, MailboxLayout.STATE_OFFSET, MailboxLayout.ANSWERED);
    try (Worker worker = fabric.worker(memory)) {
      assertThat(worker.call(0, TestHandlers.INCREMENT, 0, 8)).isEqualTo(8);
    }
    assertThat(get(slot, MailboxLayout.OWNER_OFFSET)).isEqualTo(MailboxLayout.FREE);
  }

  /** A processor frees the slot while it still stands in the name of the dead process. */
  @Test
  void shouldLeaveAnAbandonedSlotToItsProcessor() throws Exception {
    takeAllSlotsBut(777);
    set(777, MailboxLayout.OWNER_OFFSET, DEAD);
    set(777, MailboxLayout.STATE_OFFSET, MailboxLayout.ABANDONED);
    checkThatACallWaitsForTheProcessor(777, DEAD);
  }

  /** A processor has freed the slot, and is about to make it idle. */
  @Test
  void shouldNotUseAFreeSlotThatIsStillAbandoned() throws Exception {
    takeAllSlotsBut(777);
    set(777, MailboxLayout.STATE_OFFSET, MailboxLayout.ABANDONED);
    checkThatACallWaitsForTheProcessor(777, MailboxLayout.FREE);
  }

  private void takeAllSlotsBut(int free) {
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      set(slot, MailboxLayout.OWNER_OFFSET, slot == free ? MailboxLayout.FREE : Owner.self());
    }
  }

  private void checkThatACallWaitsForTheProcessor(int slot, long owner)
      throws InterruptedException {
    AtomicInteger responseBytes = new AtomicInteger();
    Thread caller =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try (Worker worker = fabric.worker(memory)) {
                responseBytes.set(worker.call(0, TestHandlers.INCREMENT, 0, 8));
              }
            });
    while (caller.getState() != Thread.State.TIMED_WAITING && caller.isAlive()) {
      Thread.onSpinWait();
    }
    assertThat(responseBytes).hasValue(0);
    assertThat(get(slot, MailboxLayout.STATE_OFFSET)).isEqualTo(MailboxLayout.ABANDONED);
    assertThat(server.callsServed()).isZero();
    // A worker may have claimed the free slot for a moment, until it saw its state.
    assertThat(get(slot, MailboxLayout.OWNER_OFFSET))
        .isIn(owner, owner == DEAD ? DEAD : Owner.self());
    set(slot, MailboxLayout.OWNER_OFFSET, MailboxLayout.FREE);
    set(slot, MailboxLayout.STATE_OFFSET, MailboxLayout.IDLE);
    caller.join();
    assertThat(responseBytes).hasValue(8);
    assertThat(get(slot, MailboxLayout.OWNER_OFFSET)).isEqualTo(MailboxLayout.FREE);
  }

  @Test
  void shouldServeWorkersThatShareASlot() throws Exception {
    for (int slot = 1; slot < MailboxLayout.SLOTS; slot++) {
      set(slot, MailboxLayout.OWNER_OFFSET, Owner.self());
    }
    int calls = 200;
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        RegisteredMemory own = fabric.register(8192);
        Worker worker = fabric.worker(own);
        running.add(
            threads.submit(() -> {
              for (int i = 0; i < calls; i++) {
                Words.set(own.segment(), 0, 1);
                Words.set(own.segment(), 8, 64);
                worker.call(0, TestHandlers.ADD, 0, 16);
              }
            }));
      }
      for (Future<?> end : running) {
        end.get();
      }
    }
    assertThat(Words.getAcquire(peer.segment(), 64)).isEqualTo(4L * calls);
  }

  @Tag("campaign")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldServeMoreWorkersThanThereAreSlots(boolean virtual) throws Exception {
    int workers = 1_500;
    int calls = 3;
    ThreadFactory factory =
        virtual ? Thread.ofVirtual().factory() : Thread.ofPlatform().daemon().factory();
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService threads =
        virtual
            ? Executors.newThreadPerTaskExecutor(factory)
            : Executors.newFixedThreadPool(64, factory)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        RegisteredMemory own = fabric.register(8192);
        Worker worker = fabric.worker(own);
        running.add(
            threads.submit(() -> {
              start.await();
              for (int call = 0; call < calls; call++) {
                Words.set(own.segment(), 0, 1);
                Words.set(own.segment(), 8, 64);
                worker.call(0, TestHandlers.ADD, 0, 16);
              }
              worker.close();
              own.close();
              return null;
            }));
      }
      start.countDown();
      for (Future<?> end : running) {
        end.get();
      }
    }
    assertThat(Words.getAcquire(peer.segment(), 64)).isEqualTo((long) workers * calls);
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      assertThat(get(slot, MailboxLayout.OWNER_OFFSET)).isEqualTo(MailboxLayout.FREE);
    }
  }

  @Test
  void shouldFreeTheSlotOfACallThatFailed() {
    try (Worker worker = fabric.worker(memory)) {
      assertThatThrownBy(() -> worker.call(0, TestHandlers.THROW, 0, 8))
          .isInstanceOf(CallFailedException.class);
    }
    for (int slot = 0; slot < MailboxLayout.SLOTS; slot++) {
      assertThat(get(slot, MailboxLayout.OWNER_OFFSET)).isEqualTo(MailboxLayout.FREE);
      assertThat(get(slot, MailboxLayout.STATE_OFFSET)).isEqualTo(MailboxLayout.IDLE);
    }
  }

  @Test
  void shouldReclaimASlotWhoseProcessNumberIsInUseAgain() {
    long sameNumber = Owner.self() ^ 1;
    assertThat(Owner.pid(sameNumber)).isEqualTo(ProcessHandle.current().pid());
    assertThat(Owner.isAlive(sameNumber)).isFalse();
  }

  @Test
  void shouldRefuseRequestsThatAreNonsense() {
    long[][] functionsAndLengths = {
      {16, -1},
      {16, Worker.CALL_BYTES_MAX + 1},
      {16, 1L << 40},
      {16, Long.MIN_VALUE},
      {-1, 8},
      {256, 8},
      {1L << 32 | 16, 8},
      {Long.MIN_VALUE, 8}
    };
    for (int i = 0; i < functionsAndLengths.length; i++) {
      int slot = 100 * i;
      post(slot, functionsAndLengths[i][0], functionsAndLengths[i][1]);
      while (get(slot, MailboxLayout.STATE_OFFSET) != MailboxLayout.FAILED) {
        LockSupport.parkNanos(10_000);
      }
    }
    assertThat(server.callsFailed()).isEqualTo(functionsAndLengths.length);
    assertThat(server.callsServed()).isZero();
  }

  @Test
  void shouldPassOverPendingBitsWithoutARequest() {
    for (int word = 0; word < MailboxLayout.PENDING_WORDS; word++) {
      Words.setRelease(mailbox, MailboxLayout.pending(word), -1);
    }
    try (Worker worker = fabric.worker(memory)) {
      assertThat(worker.call(0, TestHandlers.INCREMENT, 0, 8)).isEqualTo(8);
    }
    assertThat(server.callsServed()).isEqualTo(1);
    assertThat(server.callsFailed()).isZero();
  }

  @Test
  void shouldFreeTheSlotOfAClientThatGaveUp() {
    int slot = 7;
    set(slot, MailboxLayout.OWNER_OFFSET, DEAD);
    Words.set(mailbox, MailboxLayout.slot(slot) + MailboxLayout.MESSAGE_OFFSET, 64);
    post(slot, TestHandlers.WAIT, 8);
    while (get(slot, MailboxLayout.STATE_OFFSET) != MailboxLayout.TAKEN) {
      LockSupport.parkNanos(10_000);
    }
    set(slot, MailboxLayout.STATE_OFFSET, MailboxLayout.ABANDONED);
    Words.setRelease(peer.segment(), 64, 1);
    while (get(slot, MailboxLayout.STATE_OFFSET) != MailboxLayout.IDLE) {
      LockSupport.parkNanos(10_000);
    }
    assertThat(get(slot, MailboxLayout.OWNER_OFFSET)).isEqualTo(MailboxLayout.FREE);
  }

  private void post(int slot, long function, long length) {
    set(slot, MailboxLayout.FUNCTION_OFFSET, function);
    set(slot, MailboxLayout.LENGTH_OFFSET, length);
    set(slot, MailboxLayout.STATE_OFFSET, MailboxLayout.POSTED);
    Words.getAndBitwiseOr(
        mailbox, MailboxLayout.pending(slot / Long.SIZE), 1L << (slot % Long.SIZE));
  }

  private void set(int slot, long field, long value) {
    Words.setRelease(mailbox, MailboxLayout.slot(slot) + field, value);
  }

  private long get(int slot, long field) {
    return Words.getAcquire(mailbox, MailboxLayout.slot(slot) + field);
  }
}
