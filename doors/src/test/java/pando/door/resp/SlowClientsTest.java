package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that ask and do not read. */
class SlowClientsTest {
  private static final int VALUE_BYTES = 1 << 20;
  private static final int REQUESTS = 60;

  @Tag("campaign")
  @Test
  void shouldStopReadingFromClientsThatDoNotRead() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient other = door.raw();
        RawClient slow = new RawClient(door.address(), 16 << 10)) {
      assertThat(other.ask("SET", "large", "v".repeat(VALUE_BYTES))).isEqualTo("+OK");
      for (int i = 0; i < REQUESTS; i++) {
        slow.send(RawClient.request("GET", "large"));
        if (i % 10 == 0) {
          assertThat(other.ask("PING")).isEqualTo("+PONG");
          assertThat(door.door().waitingBytes()).isLessThan(4L * VALUE_BYTES);
        }
      }
      for (int i = 0; i < REQUESTS; i++) {
        assertThat(slow.reply()).hasSize(VALUE_BYTES);
      }
      assertThat(slow.ask("PING")).isEqualTo("+PONG");
      assertThat(door.door().waitingBytes()).isZero();
    }
  }

  @Tag("campaign")
  @Test
  void shouldBoundWhatAllOfThemTake() throws Exception {
    int bytes = 6 << 20;
    RawClient[] slow = new RawClient[16];
    try (TestDoor door =
            TestDoor.open(options -> options.withWaitingBytesMax(RespOptions.WAITING_BYTES_MIN));
        RawClient other = door.raw()) {
      assertThat(other.ask("SET", "large", "v".repeat(bytes))).isEqualTo("+OK");
      for (int i = 0; i < slow.length; i++) {
        slow[i] = new RawClient(door.address(), 4096);
        slow[i].send(RawClient.request("GET", "large"));
        assertThat(other.ask("PING")).isEqualTo("+PONG");
      }
      int whole = 0;
      for (RawClient each : slow) {
        whole += isWhole(each, bytes) ? 1 : 0;
        each.close();
      }
      assertThat(whole).isBetween(1, slow.length - 1);
      assertThat(other.ask("PING")).isEqualTo("+PONG");
    }
  }

  private static boolean isWhole(RawClient client, int bytes) throws IOException {
    try {
      return client.reply().length() == bytes;
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException ended) {
      return false;
    }
  }

  @Test
  void shouldRefuseRepliesOfTooManyBytes() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("SET", "large", "v".repeat(6 << 20))).isEqualTo("+OK");
      assertThat(client.ask("MGET", "large", "large", "large", "large", "large", "large"))
          .isEqualTo("-ERR the reply is too large: maximum=33554432 bytes");
      assertThat(client.ask("STRLEN", "large")).isEqualTo(":" + (6 << 20));
    }
  }
}
