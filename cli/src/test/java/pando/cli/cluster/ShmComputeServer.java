package pando.cli.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import pando.client.Routes;
import pando.client.server.ClientService;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.shm.ShmFabric;
import pando.fabric.tcp.Authentication;
import pando.index.IndexOptions;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.RangeIndex;
import pando.index.Systems;

/**
 * A compute server over shared memory, in a process of its own: serves clients, and changes ranges
 * when its parent asks for it, until that has nothing more to say. Answers each request by a line:
 * the table of partitions that the pool has then, or what went wrong.
 */
final class ShmComputeServer {
  /** Takes a table from a line; the opposite of {@link #text}. */
  static Routes table(String line) {
    String[] words = line.split(" ");
    return new Routes(
        Long.parseLong(words[0]),
        true,
        Stream.of(words)
            .skip(1)
            .map(word -> word.split(":"))
            .map(
                parts -> new Routes.Route(Long.parseLong(parts[0]), Integer.parseInt(parts[1]), ""))
            .toList());
  }

  private static String text(Partitioning table) {
    StringBuilder text = new StringBuilder().append(table.epoch());
    for (int range = 0; range < table.servers(); range++) {
      text.append(' ')
          .append(table.lowOfRange(range))
          .append(':')
          .append(table.ownerOfRange(range));
    }
    return text.toString();
  }

  private final int number;
  private final IndexOptions options;
  private final List<Integer> ports;

  private ShmComputeServer(int number, IndexOptions options, List<Integer> ports) {
    this.number = number;
    this.options = options;
    this.ports = ports;
  }

  /**
   * Runs it.
   *
   * @param arguments its number; whether it makes the index; the system; bytes of its cache; names
   *     of the memory servers; ports of all compute servers
   */
  public static void main(String[] arguments) throws IOException {
    IndexOptions options =
        Systems.named(arguments[2])
            .defaults()
            .with("cache-bytes", arguments[3])
            .with("compute-servers", "8");
    new ShmComputeServer(
            Integer.parseInt(arguments[0]),
            options,
            Stream.of(arguments[5].split(",")).map(Integer::valueOf).toList())
        .run(Boolean.parseBoolean(arguments[1]), List.of(arguments[4].split(",")));
  }

  private void run(boolean isFirst, List<String> memory) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), ports.get(number));
    try (Fabric fabric = ShmFabric.attach(memory, number);
        RangeIndex index = open(fabric, isFirst);
        ClientService service =
            ClientService.start(index, address, Authentication.none(), () -> routes(index), 1)) {
      System.out.println(
          "compute server " + number + " is ready at " + service.address() + " for clients");
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        System.out.println(answer(index, line.split(" ")));
      }
    }
  }

  private RangeIndex open(Fabric fabric, boolean isFirst) {
    if (options.hasMovablePartitions()) {
      return isFirst ? options.createAt(fabric, number) : options.joinAt(fabric, number);
    }
    return isFirst ? options.create(fabric, number, 1) : options.join(fabric, number, 1);
  }

  /** Each serves all keys where they have no ranges. */
  private Routes routes(RangeIndex index) {
    return options.hasMovablePartitions()
        ? Routes.of(index.partitioning(), owner -> Optional.of(address(ports.get(owner))))
        : new Routes(
            0, false, ports.stream().map(port -> new Routes.Route(0, 0, address(port))).toList());
  }

  private static String address(int port) {
    return "127.0.0.1:" + port;
  }

  private String answer(RangeIndex index, String[] words) {
    if (!options.hasMovablePartitions()) {
      return text(Partitioning.undivided(0));
    }
    MovablePartitions ranges = index.partitions().orElseThrow();
    try {
      switch (words[0]) {
        case "look" -> ranges.refreshPartitions();
        case "take-over" -> ranges.takeOver(Integer.parseInt(words[1]), number);
        case "give-half" -> ranges.addComputeServer(number, Integer.parseInt(words[1]));
        case "move" -> ranges.moveBoundary(Integer.parseInt(words[1]), Long.parseLong(words[2]));
        default -> throw new IllegalArgumentException(words[0]);
      }
      return text(ranges.readPartitions());
    } catch (PandoException e) {
      return e.toString();
    }
  }
}
