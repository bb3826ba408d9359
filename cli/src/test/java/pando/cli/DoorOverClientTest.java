package pando.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.client.ClientHost;
import pando.client.ClientOptions;
import pando.client.PandoClient;
import pando.client.Routes;
import pando.client.server.FrameLine;
import pando.client.server.FrameService;
import pando.door.resp.RespDoor;
import pando.door.resp.RespOptions;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Partitioning;
import pando.index.Systems;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;

/** A door for clients of Redis over two compute servers: how often it waits for these. */
@Timeout(60)
class DoorOverClientTest {
  private static final int KEYS = 64;
  private static final List<String> ADDRESSES = List.of("compute:1", "compute:2");

  private final AtomicLong waits = new AtomicLong();

  /** A client, and what the door's waits for its requests came to. */
  @FunctionalInterface
  private interface Asking {
    void ask(Socket socket) throws IOException;
  }

  @Test
  void shouldWaitForEachStepOfAKeyThatExpires() throws IOException {
    over(socket -> {
      assertThat(waitsFor(socket, "SET k v", "+OK")).isEqualTo(1);
      assertThat(waitsFor(socket, "SET k v EX 100", "+OK")).isEqualTo(3);
      assertThat(waitsFor(socket, "SET k v EX 200", "+OK")).isEqualTo(5);
      assertThat(waitsFor(socket, "INCR n", ":1")).isEqualTo(2);
      assertThat(waitsFor(socket, "APPEND k w", ":2")).isEqualTo(2);
      assertThat(waitsFor(socket, "GET k", "vw")).isEqualTo(1);
      assertThat(waitsFor(socket, "TTL k", ":200")).isEqualTo(1);
      assertThat(waitsFor(socket, "SET k v XX", "+OK")).isEqualTo(4);
      assertThat(waitsFor(socket, "SET k v XX", "+OK")).isEqualTo(2);
    });
  }

  private long waitsFor(Socket socket, String line, String reply) throws IOException {
    long before = waits.get();
    ask(socket, line + "\r\n");
    assertThat(value(replies(socket))).isEqualTo(reply);
    return waits.get() - before;
  }

  @Test
  void shouldWaitForPipelinesATenthOfTheTimes() throws IOException {
    over(this::waitForPipelines);
  }

  private void over(Asking asking) throws IOException {
    PoolOptions pool =
        PoolOptions.defaults().withBytesPerServer(32 << 20).withHandlers(Systems.handlers());
    try (Fabric fabric = LocalFabric.open(pool);
        ByteIndex index = ByteIndex.create(fabric, ByteOptions.defaults());
        PandoClient client =
            PandoClient.connect(ADDRESSES, ClientOptions.defaults(), new Host(index));
        RespDoor door =
            RespDoor.openShared(client.byteStrings(), RespOptions.loopback(0).withEventLoops(1));
        Socket socket = new Socket(door.address().getAddress(), door.address().getPort())) {
      asking.ask(socket);
    }
  }

  private void waitForPipelines(Socket socket) throws IOException {
    IntFunction<String> set = i -> "SET " + key(i) + " v" + i + "\r\n";
    IntFunction<String> get = i -> "GET " + key(i) + "\r\n";
    assertThat(waitsForAll(socket, set, _ -> "+OK")).as("each server once").isEqualTo(2);
    assertThat(waitsForEach(socket, get)).isEqualTo(KEYS);
    assertThat(waitsForAll(socket, get, i -> "v" + i)).isEqualTo(2);
    assertThat(waitsForAll(socket, i -> i % 2 == 0 ? get.apply(i) : set.apply(i), _ -> ""))
        .as("a GET and a SET by turns do not go together")
        .isEqualTo(KEYS);
    StringBuilder many = new StringBuilder("MGET");
    for (int i = 0; i < KEYS; i++) {
      many.append(' ').append(key(i));
    }
    long before = waits.get();
    ask(socket, many + "\r\n");
    BufferedReader replies = replies(socket);
    assertThat(replies.readLine()).isEqualTo("*" + KEYS);
    for (int i = 0; i < KEYS; i++) {
      assertThat(value(replies)).isEqualTo("v" + i);
    }
    assertThat(waits.get() - before).isEqualTo(2);
  }

  /** Returns a key of the one server or the other. */
  private static String key(int i) {
    return i / 2 % 2 == 0 ? "k" + i : "\"\\xff" + i + "\"";
  }

  private static void ask(Socket socket, String lines) throws IOException {
    socket.getOutputStream().write(lines.getBytes(US_ASCII));
  }

  private static BufferedReader replies(Socket socket) throws IOException {
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
  }

  private static String value(BufferedReader replies) throws IOException {
    String line = replies.readLine();
    return line.startsWith("$") ? replies.readLine() : line;
  }

  /** Sends requests one by one; returns how often the door has waited. */
  private long waitsForEach(Socket socket, IntFunction<String> request) throws IOException {
    long before = waits.get();
    BufferedReader replies = replies(socket);
    for (int i = 0; i < KEYS; i++) {
      ask(socket, request.apply(i));
      assertThat(value(replies)).isEqualTo("v" + i);
    }
    return waits.get() - before;
  }

  /** Sends requests together; returns how often the door has waited. */
  private long waitsForAll(Socket socket, IntFunction<String> request, IntFunction<String> reply)
      throws IOException {
    long before = waits.get();
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < KEYS; i++) {
      all.append(request.apply(i));
    }
    ask(socket, all.toString());
    BufferedReader replies = replies(socket);
    List<String> found = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      found.add(value(replies));
      assertThat(found.getLast()).contains(reply.apply(i));
    }
    return waits.get() - before;
  }

  /** Two compute servers without sockets, which answer while the door waits. */
  private final class Host implements ClientHost {
    private final List<FrameService> services = new ArrayList<>();

    Host(ByteIndex index) {
      Routes routes =
          Routes.of(
              Partitioning.equalWidth(ADDRESSES.size())
                  .withFences(
                      List.of(MemorySegment.NULL, MemorySegment.ofArray(new byte[] {-128}))),
              owner -> Optional.of(ADDRESSES.get(owner)));
      ADDRESSES.forEach(_ -> services.add(new FrameService(index, () -> routes)));
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public void pause(long nanos) {}

    @Override
    public long random() {
      return 1;
    }

    @Override
    public Line line(String address) {
      return new HostLine(services.get(ADDRESSES.indexOf(address)));
    }

    @Override
    public void close() {
      services.forEach(FrameService::close);
    }
  }

  private final class HostLine extends FrameLine {
    private final FrameService service;

    HostLine(FrameService service) {
      this.service = service;
    }

    @Override
    public void await(long nanosMax) throws IOException {
      if (!hasResponses()) {
        // In the background the door looks now and then which keys have expired.
        boolean isOfEventLoop = Thread.currentThread().getName().startsWith("pando-resp");
        waits.addAndGet(isOfEventLoop ? 1 : 0);
        synchronized (service) {
          addResponses(service.serve(takeRequests(), _ -> {}));
        }
      }
    }
  }
}
