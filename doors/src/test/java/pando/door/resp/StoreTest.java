package pando.door.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
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

  /** Over a network a scan may take minutes, so it ends at the next entry. */
  @Test
  void shouldEndScansOfSharedKeysWhenTheDoorCloses() {
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      Keyspace keyspace = new SharedKeyspace(index);
      try (Store store = keyspace.newStore()) {
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
  void shouldCarryOutScansOfItsOwnIndexWhenTheDoorCloses() {
    try (Fabric fabric = LocalFabric.open(POOL);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults())) {
      Keyspace keyspace = new OwnKeyspace(index);
      try (Store store = keyspace.newStore()) {
        byte[] string = {Keyspace.STRING, '1'};
        store
            .session()
            .put(MemorySegment.ofArray(new byte[] {0, 'a'}), MemorySegment.ofArray(string));
        keyspace.stop();
        assertThat(store.keys(new byte[] {0}, new byte[] {1})).hasSize(1);
        store.clear(0);
        assertThat(store.keys(new byte[] {0}, new byte[] {1})).isEmpty();
      }
    }
  }

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }
}
