package pando.fabric.shm;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import pando.fabric.TestHandlers;
import pando.fabric.server.PoolOptions;

/** A memory server in a process of its own, which ends with this one. */
final class ShmServerProcess implements AutoCloseable {
  private static final String READY = "ready";

  private final Process process;
  private final BufferedReader output;

  private ShmServerProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /** Starts a process and waits until its memory server runs. */
  static ShmServerProcess start(String name, int number, long bytes) throws IOException {
    String java = ProcessHandle.current().info().command().orElseThrow();
    String directory = System.getProperty(Registry.DIRECTORY_PROPERTY);
    List<String> command =
        List.of(
            java,
            "-ea",
            "--enable-native-access=ALL-UNNAMED",
            "-D" + Registry.DIRECTORY_PROPERTY + "=" + directory,
            "-cp",
            root(ShmFabric.class) + ":" + root(ShmServerProcess.class),
            ShmServerProcess.class.getName(),
            name,
            Integer.toString(number),
            Long.toString(bytes));
    ProcessBuilder builder = new ProcessBuilder(command);
    ShmServerProcess server =
        new ShmServerProcess(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
    server.awaitLine(READY);
    return server;
  }

  /** Runs the memory server until the parent ends or closes the pipe. */
  public static void main(String[] arguments) throws IOException {
    PoolOptions options =
        PoolOptions.defaults()
            .withChunkBytes(64 << 10)
            .withBytesPerServer(Long.parseLong(arguments[2]))
            .withHandlers(TestHandlers.all());
    try (ShmMemoryServer server =
        ShmMemoryServer.start(arguments[0], Integer.parseInt(arguments[1]), options)) {
      System.out.println(READY);
      int end = System.in.read();
      System.exit(server.callsFailed() > 0 ? end : 0);
    }
  }

  /** Waits until the process prints a line. */
  void awaitLine(String expected) throws IOException {
    String line = output.readLine();
    if (!expected.equals(line)) {
      throw new IOException("expected=" + expected + ", line=" + line);
    }
  }

  /** Ends the process as kill -9 does. */
  void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() throws IOException {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException e) {
      kill();
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the class path entry that a class was loaded from. */
  private static String root(Class<?> type) {
    String file = type.getSimpleName() + ".class";
    String resource = type.getResource(file).toString();
    String inside = type.getName().replace('.', '/') + ".class";
    String location = resource.substring(0, resource.length() - inside.length());
    if (location.startsWith("jar:")) {
      location = location.substring("jar:".length(), location.length() - "!/".length());
    }
    return Path.of(URI.create(location)).toString();
  }
}
