package pando.fabric;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A main class of the tests in a process of its own, which ends when its input does. */
public final class JavaProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private JavaProcess(Process process) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts a process.
   *
   * @param options of the JVM
   * @param main has the main method
   */
  public static JavaProcess start(List<String> options, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(List.of("-ea", "--enable-native-access=ALL-UNNAMED"));
    command.addAll(options);
    command.addAll(List.of("-cp", root(Fabric.class) + ":" + root(JavaProcess.class)));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    return new JavaProcess(builder.redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** Returns the next line that the process prints. */
  public String line() throws IOException {
    return String.valueOf(output.readLine());
  }

  /** Waits until the process prints a line. */
  public void awaitLine(String expected) throws IOException {
    String line = line();
    if (!expected.equals(line)) {
      throw new IOException("expected=" + expected + ", line=" + line);
    }
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
  public void kill() {
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
