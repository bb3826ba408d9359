package pando.index;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.server.HostedMemoryServer;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.fabric.tcp.Authentication;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.verbs.VerbsFabric;
import pando.fabric.verbs.VerbsMemoryServer;

/** A memory server, or two compute servers, in a process of its own, which ends with this one. */
public final class IndexProcess implements AutoCloseable {
  /** Names the directory of the memory servers' registry. */
  public static final String DIRECTORY_PROPERTY = "pando.shm.directory";

  private static final String READY = "ready";
  private static final String ANEW = "anew";
  private static final String USE = "use";

  /** Between what belongs to several indexes. */
  private static final String INDEXES = ";";

  private final Process process;
  private final BufferedReader output;
  private String place = "";

  private IndexProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Starts a memory server. */
  public static IndexProcess memoryServer(String name, int number) throws IOException {
    return start("memory", Integer.toString(number), name);
  }

  /** Starts a memory server that is reached by TCP on loopback; port 0 takes a free one. */
  public static IndexProcess tcpMemoryServer(int port, int number) throws IOException {
    return start("tcp", Integer.toString(number), "127.0.0.1:" + port);
  }

  /**
   * Starts a memory server on a machine of {@code testbed/network}.
   *
   * @param token file that says what clients have to know
   */
  public static IndexProcess tcpMemoryServerOn(int machine, int number, Path token)
      throws IOException {
    return start(
        List.of("ip", "netns", "exec", "pando" + machine),
        "tcp",
        Integer.toString(number),
        "10.98.0." + machine + ":0",
        token.toString());
  }

  /** Starts memory servers of different pools, on loopback, whose memory a card reaches. */
  public static IndexProcess verbsMemoryServers(String card, int number, int count)
      throws IOException {
    return start("verbs", Integer.toString(number), card, Integer.toString(count));
  }

  /**
   * As {@link #computeServers}, by a card, of several indexes.
   *
   * @param places for each system, where its memory servers are
   */
  public static IndexProcess verbsComputeServers(
      List<SystemUnderTest> systems, int first, String card, List<String> places)
      throws IOException {
    return start(
        "compute",
        Integer.toString(first),
        String.join(INDEXES, systems.stream().map(SystemUnderTest::systemName).toList()),
        String.join(INDEXES, places),
        card);
  }

  /** Opens a fabric by a card to memory servers at addresses and ports. */
  public static Fabric verbsFabric(List<String> memoryServers, String card, long seed) {
    return VerbsFabric.attach(
        memoryServers.stream().map(IndexProcess::address).toList(),
        seed,
        TcpOptions.defaults(),
        card);
  }

  /**
   * Opens a fabric over TCP to memory servers at addresses and ports, as patient as an emulated
   * machine with much to do needs it.
   */
  public static Fabric tcpFabric(List<String> memoryServers, Path token, long seed) {
    return TcpFabric.attach(
        memoryServers.stream().map(IndexProcess::address).toList(),
        seed,
        TcpOptions.defaults()
            .withVerbTimeout(Duration.ofSeconds(10))
            .withLostAfter(Duration.ofSeconds(30))
            .withAuthentication(Authentication.token(token).onTrustedNetwork()));
  }

  private static InetSocketAddress address(String place) {
    int colon = place.lastIndexOf(':');
    return new InetSocketAddress(
        place.substring(0, colon), Integer.parseInt(place.substring(colon + 1)));
  }

  /** Starts a process that joins the index with two of its compute servers. */
  public static IndexProcess computeServers(
      SystemUnderTest system, int first, String... memoryServers) throws IOException {
    return start(
        "compute", Integer.toString(first), system.systemName(), String.join(",", memoryServers));
  }

  /** Returns the system with settings that all processes use. */
  public static Configuration configuration(SystemUnderTest system) {
    return system.tiny(4);
  }

  private static IndexProcess start(String... arguments) throws IOException {
    return start(List.of(), arguments);
  }

  private static IndexProcess start(List<String> prefix, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-ea");
    command.add("-Xmx256m");
    // It lives for seconds.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-D" + DIRECTORY_PROPERTY + "=" + System.getProperty(DIRECTORY_PROPERTY));
    command.add("-cp");
    command.add(
        String.join(":", root(ShmFabric.class), root(RangeIndex.class), root(IndexProcess.class)));
    command.add(IndexProcess.class.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    IndexProcess started =
        new IndexProcess(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    started.awaitReady();
    return started;
  }

  private void awaitReady() throws IOException {
    String line = String.valueOf(output.readLine());
    if (!line.startsWith(READY)) {
      throw new IOException("not ready: line=" + line);
    }
    place = line.substring(READY.length());
  }

  /** Has a memory server start anew, empty and at another place. */
  public void startAnew() throws IOException {
    send(List.of(ANEW));
    awaitReady();
  }

  /** Returns where a memory server is found. */
  public String place() {
    return place;
  }

  /** Returns where memory servers of different pools are found. */
  public List<String> places() {
    return List.of(place.split(INDEXES));
  }

  /** Has requests go to one of several indexes, the first one until then. */
  public void use(int index) throws IOException {
    String request = USE + " " + index;
    String answer = ask(request);
    if (!answer.equals(request)) {
      throw new IOException("index is not there: index=" + index + ", answer=" + answer);
    }
  }

  /** Has the process do something; returns what it answers. */
  public String ask(String request) throws IOException {
    return askAll(List.of(request)).getFirst();
  }

  /** As {@link #ask}, with all requests in the pipe at once, which has place for 1,000 of them. */
  public List<String> askAll(List<String> requests) throws IOException {
    send(requests);
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      answers.add(String.valueOf(output.readLine()));
    }
    return answers;
  }

  private void send(List<String> requests) throws IOException {
    for (String request : requests) {
      process.getOutputStream().write((request + "\n").getBytes(StandardCharsets.UTF_8));
    }
    process.getOutputStream().flush();
  }

  /** Sends a signal, such as STOP. */
  public void signal(String name) throws IOException, InterruptedException {
    String[] command = {"kill", "-" + name, Long.toString(process.pid())};
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException("status=" + status + ", command=" + String.join(" ", command));
    }
  }

  /** Ends the process as kill -9 does. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  @Override
  public void close() throws IOException {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs until the parent ends or closes the pipe. */
  public static void main(String[] arguments) throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int number = Integer.parseInt(arguments[1]);
    PoolOptions pool = Pools.options(8 << 20);
    switch (arguments[0]) {
      case "memory" ->
          serveMemory(List.of(() -> ShmMemoryServer.start(arguments[2], number, pool)), input);
      case "tcp" -> {
        Authentication token =
            arguments.length > 3
                ? Authentication.token(Path.of(arguments[3])).onTrustedNetwork()
                : Authentication.none();
        serveMemory(
            List.of(() -> TcpMemoryServer.start(address(arguments[2]), number, pool, token)),
            input);
      }
      case "verbs" -> {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        serveMemory(
            Collections.nCopies(
                Integer.parseInt(arguments[3]),
                () ->
                    VerbsMemoryServer.start(
                        any, number, pool, Authentication.none(), arguments[2])),
            input);
      }
      default -> serveKeys(arguments, number, input);
    }
  }

  /** Joins indexes, and serves their keys. */
  private static void serveKeys(String[] arguments, int first, BufferedReader input)
      throws IOException {
    List<String> systems = List.of(arguments[2].split(INDEXES));
    List<String> places = List.of(arguments[3].split(INDEXES));
    List<Joined> joined = new ArrayList<>();
    try {
      for (int i = 0; i < systems.size(); i++) {
        List<String> names = List.of(places.get(i).split(","));
        Fabric fabric =
            arguments.length > 4
                ? verbsFabric(names, arguments[4], first)
                : ShmFabric.attach(names, first);
        joined.add(Joined.of(SystemUnderTest.of(systems.get(i)), first, fabric));
      }
      serveKeys(joined, input);
    } finally {
      joined.reversed().forEach(Joined::close);
    }
  }

  /** Serves until there is no more input, or is to start anew. */
  private static void serveMemory(List<Supplier<HostedMemoryServer>> starts, BufferedReader input)
      throws IOException {
    boolean again = true;
    while (again) {
      List<HostedMemoryServer> servers = new ArrayList<>();
      try {
        starts.forEach(start -> servers.add(start.get()));
        String places =
            String.join(INDEXES, servers.stream().map(HostedMemoryServer::place).toList());
        System.out.println(READY + places);
        String line = input.readLine();
        while (line != null && !line.equals(ANEW)) {
          System.out.println(places + " got " + line);
          line = input.readLine();
        }
        again = line != null;
      } finally {
        servers.reversed().forEach(HostedMemoryServer::close);
      }
    }
  }

  /** An index that this process has joined. */
  private record Joined(Fabric fabric, RangeIndex index, Session session) {
    /** Joins an index with two compute servers. */
    static Joined of(SystemUnderTest system, int first, Fabric fabric) {
      RangeIndex index = configuration(system).join(fabric, first, 2);
      return new Joined(fabric, index, index.session());
    }

    void close() {
      try (fabric;
          index) {
        session.close();
      }
    }
  }

  private static void serveKeys(List<Joined> joined, BufferedReader input) throws IOException {
    System.out.println(READY);
    Joined used = joined.getFirst();
    String line = input.readLine();
    while (line != null) {
      String[] words = line.split(" ");
      if (words[0].equals(USE)) {
        used = joined.get(Integer.parseInt(words[1]));
        System.out.println(line);
      } else {
        System.out.println(answer(used.index(), used.session(), words));
      }
      line = input.readLine();
    }
  }

  private static String answer(RangeIndex index, Session session, String[] words) {
    long key = Long.parseLong(words[1]);
    long value = words.length > 2 ? Long.parseLong(words[2]) : 0;
    return words[0].equals("move")
        ? move(index.partitions().orElseThrow(), (int) key, value)
        : answer(session, words[0], key, value);
  }

  private static String move(MovablePartitions index, int server, long low) {
    try {
      return "moved " + index.moveBoundary(server, low);
    } catch (IllegalArgumentException e) {
      return e.getClass().getSimpleName();
    }
  }

  /** Does something in this process; returns what it came to. */
  public static String answer(Session session, String what, long key, long value) {
    try {
      return switch (what) {
        case "get" -> session.get(key) ? "value " + session.value() : "absent";
        case "put" -> session.put(key, value) ? "replaced" : "stored";
        default -> throw new IllegalArgumentException(what);
      };
    } catch (PandoException e) {
      return e.getClass().getSimpleName();
    }
  }

  /** Returns the class path entry that a class was loaded from. */
  private static String root(Class<?> type) {
    String resource = type.getResource(type.getSimpleName() + ".class").toString();
    String inside = type.getName().replace('.', '/') + ".class";
    String location = resource.substring(0, resource.length() - inside.length());
    if (location.startsWith("jar:")) {
      location = location.substring("jar:".length(), location.length() - "!/".length());
    }
    return Path.of(URI.create(location)).toString();
  }
}
