package pando.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.cli.cluster.JavaProcess;

/**
 * {@code pando serve --data} is killed under load, again and again: each change that a client was
 * answered is there at the next start.
 */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class KilledServerTest {
  private static final int KILLS = Boolean.getBoolean("pando.campaign") ? 150 : 3;
  private static final int CLIENTS = 8;
  private static final int KEYS = 30;
  private static final int PIPELINE_MAX = 12;
  private static final int BATCHES_MAX = 400;
  private static final long LOOK_NANOS = 1_000_000;
  private static final Pattern ADDRESS = Pattern.compile("RESP at 127\\.0\\.0\\.1:(\\d+)");

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"everysec", "always"})
  void shouldFindEachAnswerAgain(String sync) throws Exception {
    long seed = Long.getLong("pando.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    List<Client> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(new Client(i, random.split()));
    }
    long answered = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      try (Server server = Server.start(folder, sync)) {
        int port = server.port();
        for (Client client : clients) {
          client.checkAll(port, "pando.seed=" + seed + ", kills=" + kill);
        }
        List<Thread> threads = new ArrayList<>();
        for (Client client : clients) {
          client.batches = BATCHES_MAX;
          threads.add(Thread.ofPlatform().start(() -> client.run(port)));
        }
        long wanted = answered + random.nextInt(5_000);
        while (answered(clients) < wanted && threads.getFirst().isAlive()) {
          LockSupport.parkNanos(LOOK_NANOS);
        }
        server.process().kill();
        for (Thread thread : threads) {
          thread.join();
        }
      }
      answered = answered(clients);
    }
    assertThat(answered).isPositive();
    try (Server server = Server.start(folder, sync)) {
      for (Client client : clients) {
        client.checkAll(server.port(), "pando.seed=" + seed);
      }
    }
  }

  private static long answered(List<Client> clients) {
    return clients.stream().mapToLong(client -> client.answered.get()).sum();
  }

  /** A server that runs. */
  private record Server(JavaProcess process, int port) implements AutoCloseable {
    static Server start(Path folder, String sync) throws IOException {
      JavaProcess process =
          JavaProcess.start(
              List.of("serve", "--resp=0", "--data=" + folder, "--sync=" + sync, "--cache=16MiB"));
      Matcher address = ADDRESS.matcher(process.awaitLine());
      assertThat(address.find()).isTrue();
      return new Server(process, Integer.parseInt(address.group(1)));
    }

    @Override
    public void close() {
      process.kill();
      process.close();
    }
  }

  /** A client that has keys of its own, and knows what each may have. */
  private static final class Client {
    private final int number;
    private final SplittableRandom random;

    /**
     * What each key may have: what was answered last, and all that was sent since; "" is absent.
     */
    private final List<List<String>> possible = new ArrayList<>();

    private long sent;
    private final AtomicLong answered = new AtomicLong();
    private int batches;

    Client(int number, SplittableRandom random) {
      this.number = number;
      this.random = random;
      for (int key = 0; key < KEYS; key++) {
        possible.add(new ArrayList<>(List.of("")));
      }
    }

    private String key(int key) {
      return "client%d-%d".formatted(number, key);
    }

    /** Changes keys until the connection ends. */
    void run(int port) {
      try (Connection connection = new Connection(port)) {
        while (batches-- > 0) {
          batch(connection);
        }
      } catch (IOException e) {
        // The server was killed.
      }
    }

    private void batch(Connection connection) throws IOException {
      int count = 1 + random.nextInt(PIPELINE_MAX);
      int[] keys = new int[count];
      String[] values = new String[count];
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < count; i++) {
        keys[i] = random.nextInt(KEYS);
        boolean removes = random.nextInt(4) == 0;
        values[i] = removes ? "" : sent++ + "x".repeat(random.nextInt(200));
        possible.get(keys[i]).add(values[i]);
        requests.append(request(keys[i], values[i]));
      }
      connection.send(requests);
      for (int i = 0; i < count; i++) {
        String line = connection.line();
        if (hasTwin(keys[i]) && values[i].isEmpty()) {
          for (int rest = 0; rest < 5; rest++) { // what is queued, and the elements of the reply
            assertThat(line).matches("\\+OK|\\+QUEUED|\\*2|:[01]");
            line = connection.line();
          }
        }
        assertThat(line).matches("\\+OK|:[01]");
        List<String> its = possible.get(keys[i]);
        its.subList(0, its.indexOf(values[i])).clear();
        answered.incrementAndGet();
      }
    }

    /** Returns what changes a key, and its twin at the same moment. */
    private String request(int key, String value) {
      String its = key(key);
      if (!hasTwin(key)) {
        return value.isEmpty()
            ? "DEL %s\r\n".formatted(its)
            : "SET %s %s\r\n".formatted(its, value);
      }
      return value.isEmpty()
          ? "MULTI\r\nDEL %s\r\nDEL %s\r\nEXEC\r\n".formatted(its, twin(its))
          : "MSET %s %s %s %s\r\n".formatted(its, value, twin(its), value);
    }

    /** Returns whether another key always has the same value. */
    private static boolean hasTwin(int key) {
      return key % 3 == 0;
    }

    private static String twin(String key) {
      return "twin-of-" + key;
    }

    private static String get(Connection connection, String key) throws IOException {
      connection.send("GET " + key + "\r\n");
      String length = connection.line();
      return length.equals("$-1") ? "" : connection.line();
    }

    void checkAll(int port, String description) throws IOException {
      try (Connection connection = new Connection(port)) {
        for (int key = 0; key < KEYS; key++) {
          String found = get(connection, key(key));
          assertThat(possible.get(key)).as("%s, key=%s", description, key(key)).contains(found);
          if (hasTwin(key)) {
            assertThat(get(connection, twin(key(key))))
                .as("%s, twin of key=%s", description, key(key))
                .isEqualTo(found);
          }
          possible.set(key, new ArrayList<>(List.of(found)));
        }
      }
    }
  }

  /** A connection with lines. */
  private static final class Connection implements AutoCloseable {
    private final Socket socket;
    private final OutputStream out;
    private final BufferedReader in;

    Connection(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      out = socket.getOutputStream();
      in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }

    void send(CharSequence requests) throws IOException {
      out.write(requests.toString().getBytes(StandardCharsets.UTF_8));
      out.flush();
    }

    String line() throws IOException {
      String line = in.readLine();
      if (line == null) {
        throw new IOException("the connection has ended");
      }
      return line;
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
