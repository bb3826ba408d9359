package pando.bench.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import pando.cli.WrongResultException;
import pando.cli.cluster.JavaProcess;
import pando.cli.text.Numbers;
import pando.client.ClientException;
import pando.client.ClientOptions;
import pando.client.ClientSession;
import pando.client.PandoClient;
import pando.fabric.UnknownOutcomeException;

/**
 * Stores address ranges at a server with a data folder, kills the server meanwhile, and looks for
 * all that it had acknowledged in the next server.
 */
public final class KilledServer {
  private static final int BATCH = 256;
  private static final Pattern ADDRESS = Pattern.compile("for clients at (\\S+),");

  private final long[] keys;
  private final long[] values;
  private final PrintWriter out;

  /**
   * Takes what is stored.
   *
   * @param ranges {@link Location}s by first address
   * @param out receives the output
   */
  public KilledServer(NavigableMap<Long, Long> ranges, PrintWriter out) {
    this.keys = ranges.keySet().stream().mapToLong(Long::longValue).toArray();
    this.values = ranges.values().stream().mapToLong(Long::longValue).toArray();
    this.out = out;
  }

  /**
   * Stores, kills, and looks.
   *
   * @throws WrongResultException if something is missing
   */
  public void run() throws IOException {
    Path folder = Files.createTempDirectory("pando-demo");
    try {
      int stored;
      try (JavaProcess server = start(folder)) {
        stored = storeAndKill(server);
      }
      long start = System.nanoTime();
      try (JavaProcess server = start(folder)) {
        look(server, stored);
        out.printf(
            "A server with a data folder was killed when it had acknowledged %s ranges. The next"
                + " one was there after %s s, and had all of them.%n",
            Numbers.count(stored), Numbers.decimal((System.nanoTime() - start) / 1e9, 1));
        server.kill();
      }
    } finally {
      remove(folder);
    }
  }

  private static JavaProcess start(Path folder) throws IOException {
    return JavaProcess.start(
        List.of("serve-clients", "--listen=127.0.0.1:0", "--data=" + folder, "--cache=64MiB"));
  }

  private static PandoClient connect(JavaProcess server) throws IOException {
    String line = server.awaitLine();
    Matcher address = ADDRESS.matcher(line);
    if (!address.find()) {
      throw new IOException("the server says another thing: " + line);
    }
    return PandoClient.connect(address.group(1), ClientOptions.defaults());
  }

  /** Stores ranges until the server is dead; returns how many it had acknowledged. */
  private int storeAndKill(JavaProcess server) throws IOException {
    int stored = 0;
    try (PandoClient client = connect(server);
        ClientSession session = client.session()) {
      while (stored < keys.length) {
        int count = Math.min(BATCH, keys.length - stored);
        session.putAll(keys, stored, count, values);
        stored += count;
        if (stored >= keys.length / 2) {
          server.kill();
        }
      }
    } catch (ClientException | UnknownOutcomeException e) {
      return stored;
    }
    throw new IOException("the server was killed, and goes on: " + server);
  }

  private void look(JavaProcess server, int stored) throws IOException {
    long[] found = new long[BATCH];
    boolean[] isThere = new boolean[BATCH];
    try (PandoClient client = connect(server);
        ClientSession session = client.session()) {
      for (int from = 0; from < stored; from += BATCH) {
        int count = Math.min(BATCH, stored - from);
        long[] wanted = Arrays.copyOfRange(keys, from, from + count);
        session.getAll(wanted, 0, count, found, isThere);
        for (int i = 0; i < count; i++) {
          if (!isThere[i] || found[i] != values[from + i]) {
            throw new WrongResultException(
                "an acknowledged range is missing: first=%s, found=%s, value=%s, expected=%s"
                    .formatted(
                        Ipv4Address.format(wanted[i]), isThere[i], found[i], values[from + i]));
          }
        }
      }
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
