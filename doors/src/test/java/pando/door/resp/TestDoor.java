package pando.door.resp;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import redis.clients.jedis.Jedis;

/** A door to a small index, in a pool of this process. */
record TestDoor(Fabric fabric, ByteIndex index, RespDoor door) implements AutoCloseable {
  static TestDoor open() throws IOException {
    return open(UnaryOperator.identity());
  }

  /** What a door is over. */
  enum Form {
    /** An index that it has for itself. */
    OWN,
    /** Byte strings that it shares. */
    SHARED,
    /** The same with keys of {@value #SHORT_BYTES} bytes at the most. */
    SHARED_SHORT,
    /** Those that look as if they were in other processes. */
    REMOTE;

    static final int SHORT_BYTES = 4;

    private Keyspace keyspace(ByteIndex index, LongSupplier clock) {
      return switch (this) {
        case OWN -> new OwnKeyspace(index, index, clock);
        case SHARED -> new SharedKeyspace(index, clock);
        case SHARED_SHORT -> new SharedKeyspace(new HookedStrings(index, SHORT_BYTES), clock);
        case REMOTE -> new SharedKeyspace(remote(index), clock);
      };
    }
  }

  static HookedStrings remote(ByteIndex index) {
    return new HookedStrings(index, index.keyBytesMax(), true);
  }

  static TestDoor open(UnaryOperator<RespOptions> options) throws IOException {
    return open(Form.OWN, options);
  }

  static TestDoor open(Form form) throws IOException {
    return open(form, UnaryOperator.identity());
  }

  static TestDoor open(Form form, UnaryOperator<RespOptions> options) throws IOException {
    return open(form, options, System::currentTimeMillis);
  }

  /** Opens a door with a clock, which returns milliseconds since 1970. */
  static TestDoor open(Form form, LongSupplier clock) throws IOException {
    return open(form, UnaryOperator.identity(), clock);
  }

  private static TestDoor open(Form form, UnaryOperator<RespOptions> options, LongSupplier clock)
      throws IOException {
    Fabric fabric = Pools.open(2, 128 << 20, 1);
    ByteIndex index = ByteIndex.create(fabric, indexOptions());
    try {
      RespOptions its = options.apply(RespOptions.loopback(0).withEventLoops(2));
      return new TestDoor(fabric, index, RespDoor.open(form.keyspace(index, clock), its));
    } catch (Throwable e) {
      index.close();
      fabric.close();
      throw e;
    }
  }

  static ByteOptions indexOptions() {
    return ByteOptions.defaults()
        .withBlockBytes(512, 32)
        .withCacheBytes(1 << 20)
        .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));
  }

  InetSocketAddress address() {
    return door.address();
  }

  Jedis jedis() {
    return new Jedis(address().getAddress().getHostAddress(), address().getPort());
  }

  RawClient raw() throws IOException {
    return new RawClient(address());
  }

  @Override
  public void close() {
    try (fabric;
        index) {
      door.close();
    }
  }
}
