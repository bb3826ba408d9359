package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import pando.index.MeterReadings;

class DoorMetersTest {
  @Test
  void shouldCountRequestsBytesAndErrors() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient one = door.raw();
        RawClient other = door.raw()) {
      byte[] set = RawClient.request("SET", "key", "value");
      byte[] get = RawClient.request("GET", "key");
      for (int i = 0; i < 10; i++) {
        one.send(set);
        assertThat(one.reply()).isEqualTo("+OK");
        other.send(get);
        assertThat(other.reply()).isEqualTo("value");
      }
      byte[] wrong = RawClient.request("INCR", "key");
      one.send(wrong);
      assertThat(one.reply()).startsWith("-ERR value is not an integer");
      byte[] unknown = RawClient.request("NOSUCH");
      one.send(unknown);
      String error = one.reply();
      long in = 10L * (set.length + get.length) + wrong.length + unknown.length;
      long out =
          10L * ("+OK\r\n".length() + "$5\r\nvalue\r\n".length())
              + "-ERR value is not an integer or out of range\r\n".length()
              + error.length()
              + 2;
      Map<String, Double> meters = MeterReadings.of(door.door());
      assertThat(meters)
          .containsEntry("pando.ops", 22.0)
          .containsEntry("pando.resp.commands command set", 10.0)
          .containsEntry("pando.resp.commands command get", 10.0)
          .containsEntry("pando.resp.commands command incr", 1.0)
          .containsEntry("pando.resp.commands command pando.range", 0.0)
          .containsEntry("pando.resp.errors kind refused", 2.0)
          .containsEntry("pando.resp.errors kind failed", 0.0)
          .containsEntry("pando.resp.errors kind protocol", 0.0)
          .containsEntry("pando.resp.bytes dir in", (double) in)
          .containsEntry("pando.resp.bytes dir out", (double) out)
          .containsEntry("pando.resp.connections", 2.0)
          .containsEntry("pando.resp.accepted", 2.0)
          .containsEntry("pando.resp.lookups outcome found", 10.0)
          .containsEntry("pando.resp.lookups outcome absent", 0.0)
          .containsEntry("pando.keys", 1.0)
          .containsEntry("pando.blocks", 1.0);
      assertThat(meters.get("pando.latency.seconds quantile 0.5"))
          .isPositive()
          .isLessThanOrEqualTo(meters.get("pando.latency.seconds quantile 0.99"));
    }
  }

  @Test
  void shouldKnowTheLastErrorWithoutKeysAndValues() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(door.door().lastError()).isEmpty();
      assertThat(client.ask("NOSUCH", "secret")).startsWith("-ERR");
      assertThat(door.door().lastError().orElseThrow().what())
          .isEqualTo("ERR, a command that Pando does not have");
      assertThat(client.ask("ZADD", "secret", "1", "member")).isEqualTo(":1");
      assertThat(client.ask("GET", "secret")).startsWith("-WRONGTYPE");
      long before = System.currentTimeMillis();
      assertThat(client.ask("GET", "secret")).startsWith("-WRONGTYPE");
      assertThat(door.door().lastError().orElseThrow().what()).isEqualTo("WRONGTYPE, GET");
      assertThat(door.door().lastError().orElseThrow().millis()).isGreaterThanOrEqualTo(before);
      client.send("*1\r\n$-7\r\n");
      assertThat(client.reply()).startsWith("-ERR Protocol error");
      assertThat(client.ends()).isTrue();
      assertThat(door.door().lastError().orElseThrow().what()).isEqualTo("ERR, connection ended");
    }
  }

  @Test
  void shouldCountConnectionsThatAreNotOfClients() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      try (RawClient client = door.raw()) {
        client.send("*1\r\n$-7\r\n");
        assertThat(client.reply()).startsWith("-ERR Protocol error");
        assertThat(client.ends()).isTrue();
      }
      Map<String, Double> meters = MeterReadings.of(door.door());
      assertThat(meters).containsEntry("pando.resp.errors kind protocol", 1.0);
    }
  }

  @Test
  void shouldKeepItsCountsOnceItIsClosed() throws Exception {
    RespDoor closed;
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(client.ask("PING")).isEqualTo("+PONG");
      closed = door.door();
      assertThat(closed.isClosed()).isFalse();
    }
    assertThat(closed.isClosed()).isTrue();
    assertThat(MeterReadings.of(closed))
        .containsEntry("pando.ops", 1.0)
        .containsEntry("pando.resp.connections", 0.0);
  }

  @Test
  void shouldTellQuantilesWithinAnEighth() {
    Durations durations = new Durations();
    assertThat(durations.quantile(0.5)).isEqualTo(-1);
    Durations before = new Durations();
    before.add(durations);
    for (long nanos = 0; nanos < 100_000; nanos++) {
      durations.count(nanos);
    }
    for (int percent = 1; percent <= 100; percent++) {
      assertThat(durations.since(before).quantile(percent / 100.0))
          .isBetween(percent * 1_000L - 1, percent * 1_125L);
    }
    durations.count(Long.MAX_VALUE);
    assertThat(durations.quantile(1)).isEqualTo(Long.MAX_VALUE);
  }
}
