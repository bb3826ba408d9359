package pando.index.dex;

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
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.fabric.shm.ShmMemoryServer;
import pando.index.Session;

/** A memory server, or two compute servers, in a process of its own, which ends with this one. */
final class DexProcess implements AutoCloseable {
  static final String DIRECTORY_PROPERTY = "pando.shm.directory";
  private static final String READY = "ready";

  private final Process process;
  private final BufferedReader output;

  private DexProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Starts a memory server. */
  static DexProcess memoryServer(String name, int number) throws IOException {
    return start("memory", name, Integer.toString(number));
  }

  /** Starts a process that joins the index with two of its compute servers. */
  static DexProcess computeServers(int first, String... memoryServers) throws IOException {
    return start("compute", Integer.toString(first), String.join(",", memoryServers));
  }

  static DexOptions options() {
    return Pools.tiny(4);
  }

  private static DexProcess start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("-ea");
    command.add("-Xmx256m");
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-D" + DIRECTORY_PROPERTY + "=" + System.getProperty(DIRECTORY_PROPERTY));
    command.add("-cp");
    command.add(
        String.join(":", root(ShmFabric.class), root(DexIndex.class), root(DexProcess.class)));
    command.add(DexProcess.class.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    DexProcess started =
        new DexProcess(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    String line = started.output.readLine();
    if (!READY.equals(line)) {
      throw new IOException("not ready: line=" + line);
    }
    return started;
  }

  /** Has the process do something; returns what it answers. */
  String ask(String request) throws IOException {
    process.getOutputStream().write((request + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    return String.valueOf(output.readLine());
  }

  /** Ends the process as kill -9 does. */
  void kill() throws InterruptedException {
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
      serveKeys(Integer.parseInt(arguments[1]), List.of(arguments[2].split(",")), input);
    }
  }

  private static void serveMemory(String name, int number, BufferedReader input)
      throws IOException {
    PoolOptions options =
        PoolOptions.defaults()
            .withChunkBytes(64 << 10)
            .withBytesPerServer(8 << 20)
            .withHandlers(List.of(new DexOffload()));
    try (ShmMemoryServer server = ShmMemoryServer.start(name, number, options)) {
      System.out.println(READY);
      String line = input.readLine();
      while (line != null) {
        System.out.println(server.name() + " got " + line);
        line = input.readLine();
      }
    }
  }

  private static void serveKeys(int first, List<String> names, BufferedReader input)
      throws IOException {
    try (Fabric fabric = ShmFabric.attach(names, first);
        DexIndex index = DexIndex.join(fabric, options(), first, 2);
        Session session = index.session()) {
      System.out.println(READY);
      String line = input.readLine();
      while (line != null) {
        System.out.println(answer(index, session, line.split(" ")));
        line = input.readLine();
      }
    }
  }

  private static String answer(DexIndex index, Session session, String[] words) {
    try {
      long key = Long.parseLong(words[1]);
      long value = words.length > 2 ? Long.parseLong(words[2]) : 0;
      return switch (words[0]) {
        case "get" -> session.get(key) ? "value " + session.value() : "absent";
        case "put" -> session.put(key, value) ? "replaced" : "stored";
        case "remove" -> session.remove(key) ? "removed" : "absent";
        case "move" -> "moved " + index.moveBoundary((int) key, value);
        default -> "what?";
      };
    } catch (PandoException | IllegalArgumentException e) {
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
