package pando.door.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;

/** What a door that closes does to a scan that runs. */
class StoreTest {
  private static final PoolOptions POOL =
      PoolOptions.defaults().withBytesPerServer(64 << 20).withHandlers(Systems.handlers());

  private static final RespClient CLIENT =
      new RespClient(1, new InetSocketAddress(0), new InetSocketAddress(0), false, () -> {});

  /** Over a network a scan may take minutes, so it ends at the next entry. */
  @Test
  void shouldEndScansOfSharedKeysWhenTheDoorCloses() {
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      Keyspace keyspace = new SharedKeyspace(index);
      try (Store store = keyspace.newStore(StoreTest::never)) {
        store.session().put(bytes("a"), bytes("1"));
        store.session().put(bytes("b"), bytes("2"));
        assertThat(store.count(0)).isEqualTo(2);
        keyspace.stop();
        assertThatExceptionOfType(Refusal.class)
            .isThrownBy(() -> store.count(0))
            .withMessageStartingWith("ERR the door closes");
        assertThatExceptionOfType(Refusal.class).isThrownBy(() -> store.clear(0));
        assertThat(store.find(bytes("a"))).isTrue();
      }
    }
  }

  /** A set whose members are not removed to the end would leave them behind for good. */
  @Test
  void shouldRemoveSetsToTheirEndWhenTheDoorCloses() {
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      OwnKeyspace keyspace = new OwnKeyspace(index, index);
      try (Store store = keyspace.newStore(StoreTest::never)) {
        MemorySegment key = add(store, 2 * Store.REMOVED_AT_ONCE);
        keyspace.stop();
        assertThatExceptionOfType(Refusal.class).isThrownBy(() -> store.clear(0));
        assertThat(store.remove(key)).isTrue();
        assertThat(store.keys(new byte[] {0}, null)).isEmpty();
      }
    }
  }

  /** What was removed is counted, and a set without members is no key. */
  @Test
  void shouldRemoveMembersToTheEndWhereTheClientIsGoneAndTheDoorCloses() {
    RespClient client =
        new RespClient(1, new InetSocketAddress(0), new InetSocketAddress(0), false, () -> {});
    client.isGone = true;
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      OwnKeyspace keyspace = new OwnKeyspace(index, index);
      try (Store store = keyspace.newStore(StoreTest::never)) {
        MemorySegment key = add(store, 10);
        store.begin(client, Long.MAX_VALUE);
        keyspace.stop();
        List<byte[]> some =
            new ArrayList<>(store.keys(new byte[] {OwnKeyspace.DATABASES}, null, 4));
        assertThat(store.sets().remove(0, key, _ -> taken(some))).isEqualTo(4);
        assertThat(store.find(key)).isTrue();
        assertThat(store.sets().remove(0, key, its -> store.keys(its, Stored.behindAll(its))))
            .isEqualTo(6);
        assertThat(store.find(key)).isFalse();
        assertThat(store.count(0)).isZero();
      }
    }
  }

  /** What an event loop finds to be too long changes nothing there. */
  @Test
  void shouldLeaveToTheBackgroundWhatTakesLong() {
    int members = 3 * Store.REMOVED_AT_ONCE;
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      OwnKeyspace keyspace = new OwnKeyspace(index, index);
      List<Consumer<Store>> later = new ArrayList<>();
      try (Store background = keyspace.newStore(StoreTest::never);
          Store store = keyspace.newStore(later::add)) {
        MemorySegment key = add(background, members);
        byte[] all = {OwnKeyspace.DATABASES};
        store.begin(CLIENT, 100);
        assertThatExceptionOfType(TooLong.class)
            .isThrownBy(() -> store.scan(all, null, false, Long.MAX_VALUE, (_, _) -> true));
        assertThatExceptionOfType(TooLong.class).isThrownBy(store::requireBackground);
        assertThat(background.scan(all, null, false, Long.MAX_VALUE, (_, _) -> true))
            .isEqualTo(members);
        store.begin(CLIENT, 4 * Store.REMOVED_AT_ONCE);
        assertThat(store.remove(key)).isTrue();
        assertThat(background.count(0)).isZero();
        assertThat(background.scan(all, null, false, Long.MAX_VALUE, (_, _) -> true))
            .isEqualTo(members - Store.REMOVED_AT_ONCE);
        assertThat(later).hasSize(1);
        later.getFirst().accept(background);
        assertThat(background.keys(new byte[] {0}, null)).isEmpty();
      }
    }
  }

  /** An event loop does not wait for a lock that a long request has. */
  @Test
  void shouldNotWaitForSetsThatAreLocked() throws Exception {
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      OwnKeyspace keyspace = new OwnKeyspace(index, index);
      List<Consumer<Store>> later = new ArrayList<>();
      try (Store background = keyspace.newStore(StoreTest::never);
          Store store = keyspace.newStore(later::add)) {
        MemorySegment key = add(background, 10);
        background
            .sets()
            .read(
                0,
                key,
                0,
                (_, _) -> {
                  CompletableFuture.runAsync(
                          () -> {
                            store.begin(CLIENT, 1000);
                            assertThatExceptionOfType(TooLong.class)
                                .isThrownBy(
                                    () -> store.sets().add(0, key, 0, List.of(new byte[10]), true));
                            assertThat(store.remove(key)).isTrue();
                          })
                      .join();
                  return 1;
                });
        assertThat(later).hasSize(1);
        later.getFirst().accept(background);
        assertThat(background.keys(new byte[] {0}, null)).isEmpty();
      }
    }
  }

  private static MemorySegment add(Store store, int members) {
    MemorySegment key = MemorySegment.ofArray(new byte[] {0, 'a'});
    List<byte[]> all = new ArrayList<>();
    for (int i = 0; i < members; i++) {
      byte[] member = new byte[OwnKeyspace.MEMBER_AT + Integer.BYTES];
      ByteBuffer.wrap(member).putInt(OwnKeyspace.MEMBER_AT, i);
      all.add(member);
    }
    assertThat(store.sets().add(0, key, 1.5, all, true)).isEqualTo(members);
    return key;
  }

  private static List<byte[]> taken(List<byte[]> some) {
    List<byte[]> all = List.copyOf(some);
    some.clear();
    return all;
  }

  private static void never(Consumer<Store> task) {
    throw new AssertionError("a task for later: " + task);
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }
}
