package pando.door.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class MemoryInfoTest {
  private static final int LARGE_BYTES = 6 << 20;

  private static long field(RawClient client, String name) throws Exception {
    Matcher matcher = Pattern.compile(name + ":(\\d+)").matcher(client.ask("INFO", "memory"));
    assertThat(matcher.find()).as(name).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  @Test
  void shouldHaveKeysAndBytesUsedAndGiven() throws Exception {
    try (TestDoor door = TestDoor.open();
        RawClient client = door.raw()) {
      assertThat(field(client, "pando_keys")).isZero();
      assertThat(field(client, "pando_cache_bytes")).isLessThan(1 << 20);
      assertThat(field(client, "pando_pool_capacity_bytes")).isEqualTo(256 << 20);
      long before = field(client, "pando_index_bytes");
      String value = "v".repeat(100_000);
      for (int i = 0; i < 20; i++) {
        assertThat(client.ask("SET", "key" + i, value)).isEqualTo("+OK");
      }
      assertThat(client.ask("SELECT", "3")).isEqualTo("+OK");
      assertThat(client.ask("ZADD", "set", "0", "member")).isEqualTo(":1");
      assertThat(field(client, "pando_keys")).isEqualTo(21);
      assertThat(field(client, "pando_cache_bytes")).isLessThan(4 << 20);
      assertThat(field(client, "pando_index_bytes") - before).isBetween(2_000_000L, 4_000_000L);
      assertThat(field(client, "pando_pool_capacity_bytes")).isEqualTo(256 << 20);
      assertThat(field(client, "used_memory_rss")).isGreaterThan(10 << 20);
    }
  }

  @Test
  void shouldGiveBackWhatLargeRequestsLeft() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      useLargeValues(door, 1);
      long before = usedHeap();
      useLargeValues(door, LARGE_BYTES);
      door.door().giveMemoryBack();
      long used = usedHeap();
      // Connections and the background end a little later.
      for (int i = 0; used - before > LARGE_BYTES / 2 && i < 1000; i++) {
        TimeUnit.MILLISECONDS.sleep(10);
        used = usedHeap();
      }
      assertThat(used - before).isLessThan(LARGE_BYTES / 2);
      useLargeValues(door, 1);
    }
  }

  /** Leaves a value and replies in the room of each event loop, and of the background. */
  private static void useLargeValues(TestDoor door, int bytes) throws Exception {
    String value = "v".repeat(bytes);
    for (int i = 0; i < 2; i++) { // connections get the event loops in turn
      try (RawClient client = door.raw()) {
        assertThat(client.ask("SET", "key", value)).isEqualTo("+OK");
        assertThat(client.ask("MGET", "key", "key")).hasSizeGreaterThan(2 * bytes);
        assertThat(client.ask("KEYS", "*")).contains("key");
        assertThat(client.ask("GETDEL", "key")).isEqualTo(value);
      }
    }
  }

  private static long usedHeap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
