package pando.index;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.dex.DexIndex;

/** A memory server, or two compute servers, in a process of its own, which ends with this one. */
public final class IndexProcess implements AutoCloseable {
  /** Names the directory of the memory servers' registry. */
  public static final String DIRECTORY_PROPERTY = "pando.shm.directory";

  private static final String READY = "ready";

  private final Process process;
  private final BufferedReader output;

  private IndexProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Starts a memory server. */
  public static IndexProcess memoryServer(String name, int number) throws IOException {
    return start("memory", name, Integer.toString(number));
  }

  /** Starts a process that joins the index with two of its compute servers. */
  public static IndexProcess computeServers(
      SystemUnderTest system, int first, String... memoryServers) throws IOException {
    return start(
        "compute", system.systemName(), Integer.toString(first), String.join(",", memoryServers));
  }

  /** Returns the system with settings that all processes use. */
  public static Configuration configuration(SystemUnderTest system) {
    return system.tiny(4);
  }

  private static IndexProcess start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-ea");
    command.add("-Xmx256m");
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
    String line = started.output.readLine();
    if (!READY.equals(line)) {
      throw new IOException("not ready: line=" + line);
    }
    return started;
  }

  /** Has the process do something; returns what it answers. */
  public String ask(String request) throws IOException {
    process.getOutputStream().write((request + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    return String.valueOf(output.readLine());
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
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Runs until the parent ends or closes the pipe. */
  public static void main(String[] arguments) throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (arguments[0].equals("memory")) {
      serveMemory(arguments[1], Integer.parseInt(arguments[2]), input);
    } else {
      serveKeys(
          configuration(SystemUnderTest.of(arguments[1])),
          Integer.parseInt(arguments[2]),
          List.of(arguments[3].split(",")),
          input);
    }
  }

  private static void serveMemory(String name, int number, BufferedReader input)
      throws IOException {
    try (ShmMemoryServer server = ShmMemoryServer.start(name, number, Pools.options(8 << 20))) {
      System.out.println(READY);
      String line = input.readLine();
      while (line != null) {
        System.out.println(server.place() + " got " + line);
        line = input.readLine();
      }
    }
  }

  private static void serveKeys(
      Configuration configuration, int first, List<String> names, BufferedReader input)
      throws IOException {
    try (Fabric fabric = ShmFabric.attach(names, first);
        RangeIndex index = configuration.join(fabric, first, 2);
        Session session = index.session()) {
      System.out.println(READY);
      String line = input.readLine();
      while (line != null) {
        System.out.println(answer(index, session, line.split(" ")));
        line = input.readLine();
      }
    }
  }

  private static String answer(RangeIndex index, Session session, String[] words) {
    long key = Long.parseLong(words[1]);
    long value = words.length > 2 ? Long.parseLong(words[2]) : 0;
    return words[0].equals("move")
        ? move((DexIndex) index, (int) key, value)
        : answer(session, words[0], key, value);
  }

  private static String move(DexIndex index, int server, long low) {
    try {
      return "moved " + index.moveBoundary(server, low);
    } catch (IllegalArgumentException e) {
      return e.getClass().getSimpleName();
    }
  }

  /** Does something in this process; returns what it came to. */
  static String answer(Session session, String what, long key, long value) {
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
