package pando.fabric.shm;

import java.io.IOException;
import java.util.List;
import pando.fabric.JavaProcess;
import pando.fabric.TestHandlers;
import pando.fabric.server.PoolOptions;

/** A memory server in a process of its own, which ends with this one. */
final class ShmServerProcess implements AutoCloseable {
  private static final String READY = "ready";

  private final JavaProcess process;

  private ShmServerProcess(JavaProcess process) {
    this.process = process;
  }

  /** Starts a process and waits until its memory server runs. */
  static ShmServerProcess start(String name, int number, long bytes) throws IOException {
    String directory = System.getProperty(Registry.DIRECTORY_PROPERTY);
    List<String> options = List.of("-D" + Registry.DIRECTORY_PROPERTY + "=" + directory);
    String[] arguments = {name, Integer.toString(number), Long.toString(bytes)};
    JavaProcess process = JavaProcess.start(options, ShmServerProcess.class, arguments);
    process.awaitLine(READY);
    return new ShmServerProcess(process);
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
    process.awaitLine(expected);
  }

  /** Ends the process as kill -9 does. */
  void kill() {
    process.kill();
  }

  @Override
  public void close() throws IOException {
    process.close();
  }
}
