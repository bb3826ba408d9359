package pando.door.resp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanIterator;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.ProtocolVersion;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RBatch;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.KeysScanOptions;
import org.redisson.config.Config;
import org.redisson.config.Protocol;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.resps.ScanResult;

/** One program in clients that others have written, with their defaults and with each protocol. */
class JavaClientsTest {
  private static final int PIPELINE = 1_000;

  /** What the program needs of a client. */
  interface Commands extends AutoCloseable {
    void set(String key, byte[] value);

    byte @Nullable [] get(String key);

    void mset(Map<String, byte[]> all);

    long incr(String key);

    List<String> scan(String pattern);

    /** Stores and finds many keys, without waiting for replies in between. */
    List<byte[]> pipeline(List<String> keys, byte[] value);

    boolean delete(String key);

    @Override
    void close();
  }

  enum Its {
    JEDIS {
      @Override
      Commands open(InetSocketAddress address, int protocol) {
        return new OfJedis(address, protocol);
      }
    },
    LETTUCE {
      @Override
      Commands open(InetSocketAddress address, int protocol) {
        return new OfLettuce(address, protocol);
      }
    },
    REDISSON {
      @Override
      Commands open(InetSocketAddress address, int protocol) {
        return new OfRedisson(address, protocol);
      }
    };

    /** Connects in a protocol, in that of the client's defaults for 0. */
    abstract Commands open(InetSocketAddress address, int protocol);
  }

  @ParameterizedTest
  @EnumSource
  void shouldServeClientsInEachProtocol(Its client) throws Exception {
    byte[] binary = new byte[256];
    IntStream.range(0, binary.length).forEach(i -> binary[i] = (byte) i);
    byte[] big = new byte[5_000_000];
    try (TestDoor door = TestDoor.open();
        RawClient raw = door.raw()) {
      for (int protocol : new int[] {0, 2, 3}) {
        assertThat(raw.ask("FLUSHDB")).isEqualTo("+OK");
        try (Commands commands = client.open(door.address(), protocol)) {
          commands.set("a", bytes("1"));
          assertThat(commands.get("a")).isEqualTo(bytes("1"));
          assertThat(commands.get("no")).isNull();
          Map<String, byte[]> many = new HashMap<>();
          IntStream.range(0, 100).forEach(i -> many.put("k" + i, bytes("v" + i)));
          commands.mset(many);
          assertThat(commands.scan("k*")).containsExactlyInAnyOrderElementsOf(many.keySet());
          assertThat(commands.incr("n")).isEqualTo(1);
          assertThat(commands.incr("n")).isEqualTo(2);
          commands.set("binary", binary);
          assertThat(commands.get("binary")).isEqualTo(binary);
          commands.set("big", big);
          assertThat(commands.get("big")).isEqualTo(big);
          List<String> keys = IntStream.range(0, PIPELINE).mapToObj(i -> "p" + i).toList();
          assertThat(commands.pipeline(keys, binary))
              .hasSize(PIPELINE)
              .allMatch(found -> Arrays.equals(found, binary));
          assertThatThrownBy(() -> commands.incr("binary")).hasMessageContaining("not an integer");
          assertThat(commands.delete("a")).isTrue();
          assertThat(commands.delete("a")).isFalse();
          if (protocol > 0) {
            assertThat(raw.ask("CLIENT", "LIST")).contains(" resp=" + protocol + " ");
          }
        }
      }
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static final class OfJedis implements Commands {
    private final redis.clients.jedis.RedisClient client;

    OfJedis(InetSocketAddress address, int protocol) {
      DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder();
      if (protocol > 0) {
        config.protocol(protocol == 3 ? RedisProtocol.RESP3 : RedisProtocol.RESP2);
      }
      client =
          redis.clients.jedis.RedisClient.builder()
              .hostAndPort(address.getHostString(), address.getPort())
              .clientConfig(config.build())
              .build();
    }

    @Override
    public void set(String key, byte[] value) {
      assertThat(client.set(bytes(key), value)).isEqualTo("OK");
    }

    @Override
    public byte @Nullable [] get(String key) {
      return client.get(bytes(key));
    }

    @Override
    public void mset(Map<String, byte[]> all) {
      List<byte[]> arguments = new ArrayList<>();
      all.forEach((key, value) -> arguments.addAll(List.of(bytes(key), value)));
      assertThat(client.mset(arguments.toArray(byte[][]::new))).isEqualTo("OK");
    }

    @Override
    public long incr(String key) {
      return client.incr(key);
    }

    @Override
    public List<String> scan(String pattern) {
      List<String> all = new ArrayList<>();
      String cursor = ScanParams.SCAN_POINTER_START;
      do {
        ScanResult<String> page = client.scan(cursor, new ScanParams().match(pattern).count(7));
        all.addAll(page.getResult());
        cursor = page.getCursor();
      } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
      return all;
    }

    @Override
    public List<byte[]> pipeline(List<String> keys, byte[] value) {
      try (AbstractPipeline pipeline = client.pipelined()) {
        List<Response<byte[]>> found = new ArrayList<>();
        for (String key : keys) {
          pipeline.set(bytes(key), value);
          found.add(pipeline.get(bytes(key)));
        }
        pipeline.sync();
        return found.stream().map(Response::get).toList();
      }
    }

    @Override
    public boolean delete(String key) {
      return client.del(key) == 1;
    }

    @Override
    public void close() {
      client.close();
    }
  }

  private static final class OfLettuce implements Commands {
    private final RedisClient client;
    private final StatefulRedisConnection<byte[], byte[]> connection;

    OfLettuce(InetSocketAddress address, int protocol) {
      client = RedisClient.create(RedisURI.create(address.getHostString(), address.getPort()));
      if (protocol > 0) {
        ProtocolVersion version = protocol == 3 ? ProtocolVersion.RESP3 : ProtocolVersion.RESP2;
        client.setOptions(ClientOptions.builder().protocolVersion(version).build());
      }
      connection = client.connect(ByteArrayCodec.INSTANCE);
    }

    @Override
    public void set(String key, byte[] value) {
      assertThat(connection.sync().set(bytes(key), value)).isEqualTo("OK");
    }

    @Override
    public byte @Nullable [] get(String key) {
      return connection.sync().get(bytes(key));
    }

    @Override
    public void mset(Map<String, byte[]> all) {
      IdentityHashMap<byte[], byte[]> encoded = new IdentityHashMap<>();
      all.forEach((key, value) -> encoded.put(bytes(key), value));
      assertThat(connection.sync().mset(encoded)).isEqualTo("OK");
    }

    @Override
    public long incr(String key) {
      return connection.sync().incr(bytes(key));
    }

    @Override
    public List<String> scan(String pattern) {
      ScanArgs args = ScanArgs.Builder.matches(pattern).limit(7);
      return ScanIterator.scan(connection.sync(), args).stream()
          .map(key -> new String(key, UTF_8))
          .toList();
    }

    @Override
    public List<byte[]> pipeline(List<String> keys, byte[] value) {
      List<RedisFuture<byte[]>> found = new ArrayList<>();
      connection.setAutoFlushCommands(false);
      for (String key : keys) {
        RedisFuture<String> _ = connection.async().set(bytes(key), value);
        found.add(connection.async().get(bytes(key)));
      }
      connection.flushCommands();
      connection.setAutoFlushCommands(true);
      assertThat(LettuceFutures.awaitAll(30, TimeUnit.SECONDS, found.toArray(RedisFuture[]::new)))
          .isTrue();
      return found.stream().map(each -> each.toCompletableFuture().join()).toList();
    }

    @Override
    public boolean delete(String key) {
      return connection.sync().del(bytes(key)) == 1;
    }

    @Override
    public void close() {
      connection.close();
      client.shutdown(0, 5, TimeUnit.SECONDS);
    }
  }

  private static final class OfRedisson implements Commands {
    private static final org.redisson.client.codec.ByteArrayCodec BYTES =
        org.redisson.client.codec.ByteArrayCodec.INSTANCE;

    private final RedissonClient client;

    OfRedisson(InetSocketAddress address, int protocol) {
      Config config = new Config().setThreads(2).setNettyThreads(2);
      if (protocol > 0) {
        config.setProtocol(protocol == 3 ? Protocol.RESP3 : Protocol.RESP2);
      }
      config
          .useSingleServer()
          .setAddress("redis://" + address.getHostString() + ":" + address.getPort())
          .setConnectionMinimumIdleSize(1)
          .setConnectionPoolSize(4)
          .setSubscriptionConnectionMinimumIdleSize(0);
      client = Redisson.create(config);
    }

    @Override
    public void set(String key, byte[] value) {
      client.<byte[]>getBucket(key, BYTES).set(value);
    }

    @Override
    public byte @Nullable [] get(String key) {
      return client.<byte[]>getBucket(key, BYTES).get();
    }

    @Override
    public void mset(Map<String, byte[]> all) {
      client.getBuckets(BYTES).set(all);
    }

    @Override
    public long incr(String key) {
      return client.getAtomicLong(key).incrementAndGet();
    }

    @Override
    public List<String> scan(String pattern) {
      KeysScanOptions options = KeysScanOptions.defaults().pattern(pattern).chunkSize(7);
      return client.getKeys().getKeysStream(options).toList();
    }

    @Override
    public List<byte[]> pipeline(List<String> keys, byte[] value) {
      RBatch batch = client.createBatch();
      for (String key : keys) {
        var _ = batch.<byte[]>getBucket(key, BYTES).setAsync(value);
        var _ = batch.<byte[]>getBucket(key, BYTES).getAsync();
      }
      List<byte[]> found = new ArrayList<>();
      for (Object reply : batch.execute().getResponses()) {
        if (reply instanceof byte[] bytes) {
          found.add(bytes);
        }
      }
      return found;
    }

    @Override
    public boolean delete(String key) {
      return client.getBucket(key, BYTES).delete();
    }

    @Override
    public void close() {
      client.shutdown();
    }
  }
}
