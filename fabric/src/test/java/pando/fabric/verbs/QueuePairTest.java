package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvSendWr;

/** Two queue pairs of one card that are connected to each other; only where there is a card. */
@Tag(TestCards.TAG)
class QueuePairTest {
  private static final int REMOTE = 4096;

  private Device device;
  private CompletionQueue completions;
  private QueuePair client;
  private QueuePair server;
  private NativeMemory memory;
  private Region region;
  private final WorkRequests requests = new WorkRequests(16);

  @BeforeEach
  void open() {
    device = Device.open(TestCards.first());
    completions = new CompletionQueue(device, 64);
    client = new QueuePair(device, completions, 64, 1);
    server = new QueuePair(device, completions, 64, 2);
    client.connect(server.endpoint());
    server.connect(client.endpoint());
    memory = NativeMemory.allocate(8192);
    region = device.register(memory.segment(), IbvMr.ALL_ACCESS);
  }

  @AfterEach
  void close() {
    requests.close();
    if (device != null) {
      client.close();
      server.close();
      completions.close();
      region.close();
      memory.close();
      device.close();
    }
  }

  @Test
  void shouldReadWhatIsThere() {
    Words.set(memory.segment(), REMOTE, 42);

    requests.transfer(
        IbvSendWr.READ, 0, at(0), region.localKey(), 64, at(REMOTE), region.remoteKey());

    assertThat(run()).isEqualTo(Status.SUCCESS);
    assertThat(Words.get(memory.segment(), 0)).isEqualTo(42);
  }

  @Test
  void shouldWriteAndCompare() {
    Words.set(memory.segment(), 0, 7);
    requests.transfer(
        IbvSendWr.WRITE,
        IbvSendWr.INLINE,
        at(0),
        region.localKey(),
        8,
        at(REMOTE),
        region.remoteKey());
    requests.cas(0, at(64), region.localKey(), at(REMOTE), region.remoteKey(), 7, 9);
    requests.faa(0, at(72), region.localKey(), at(REMOTE), region.remoteKey(), 5);
    requests.transfer(
        IbvSendWr.READ, 0, at(80), region.localKey(), 8, at(REMOTE), region.remoteKey());

    assertThat(run()).isEqualTo(Status.SUCCESS);
    assertThat(Words.get(memory.segment(), 64)).isEqualTo(7);
    assertThat(Words.get(memory.segment(), 72)).isEqualTo(9);
    assertThat(Words.get(memory.segment(), 80)).isEqualTo(14);
  }

  @Test
  void shouldRefuseAWrongKey() {
    requests.transfer(
        IbvSendWr.READ, 0, at(0), region.localKey(), 8, at(REMOTE), region.remoteKey() + 1);

    assertThat(run().isRefused()).isTrue();
  }

  @Test
  void shouldFlushWhenItIsBroken() {
    client.breakUp();
    requests.transfer(
        IbvSendWr.READ, 0, at(0), region.localKey(), 8, at(REMOTE), region.remoteKey());

    assertThat(run()).isEqualTo(Status.FLUSHED);
  }

  @Test
  void shouldNameAnUnknownCard() {
    assertThatThrownBy(() -> Device.open("none"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("none")
        .hasMessageContaining(device.name());
  }

  private Status run() {
    requests.finish(100);
    client.post(requests);
    long deadline = System.nanoTime() + 10_000_000_000L;
    while (completions.poll() == 0) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Thread.onSpinWait();
    }
    return completions.status(0);
  }

  private long at(int offset) {
    return memory.segment().address() + offset;
  }
}
