package pando.cli.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Another process of this program, started with the same JVM and options. It ends when this process
 * ends, at the latest.
 */
public final class JavaProcess implements AutoCloseable {
  private static final String MAIN = "pando.cli.Main";
  private static final long END_SECONDS_MAX = 30;

  /** So that Ctrl-C in a terminal reaches this process alone, which ends the others in order. */
  private static final List<String> OWN_GROUP =
      Files.isExecutable(Path.of("/usr/bin/setsid")) ? List.of("/usr/bin/setsid") : List.of();

  private final List<String> arguments;
  private final Process process;

  private JavaProcess(List<String> arguments, Process process) {
    this.arguments = arguments;
    this.process = process;
  }

  /**
   * Starts a process. It should call {@link #endWith} with this process's number.
   *
   * @param arguments of {@code pando}
   */
  public static JavaProcess start(List<String> arguments) throws IOException {
    return start(List.of(), arguments);
  }

  /** As {@link #start(List)}, with further options of the JVM. */
  public static JavaProcess start(List<String> options, List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>(OWN_GROUP);
    command.addAll(command(options, arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    return new JavaProcess(arguments, process);
  }

  /**
   * Returns the command for another process of this program, with the same JVM and options.
   *
   * @param options of the JVM, further ones
   * @param arguments of {@code pando}
   */
  public static List<String> command(List<String> options, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(options);
    command.addAll(mainClass());
    command.addAll(arguments);
    return command;
  }

  /** Ends this process when another ends, or soon if that has ended already. */
  public static void endWith(long otherProcess) {
    Thread.ofPlatform()
        .daemon()
        .name("end-with-" + otherProcess)
        .start(() -> {
          ProcessHandle.of(otherProcess).ifPresent(other -> other.onExit().join());
          System.exit(1);
        });
  }

  /** Returns what the process reads. */
  public OutputStream input() {
    return process.getOutputStream();
  }

  /** Returns what the process writes. */
  public InputStream output() {
    return process.getInputStream();
  }

  /** Waits until the process has written a line, and returns it. */
  public String awaitLine() throws IOException {
    String line = process.inputReader(StandardCharsets.UTF_8).readLine();
    if (line == null) {
      throw new IOException("process has ended: " + this);
    }
    return line;
  }

  /** Runs an action when the process ends. */
  public void onEnd(Runnable action) {
    CompletableFuture<Void> _ = process.onExit().thenRun(action);
  }

  /** Ends the process at once. */
  public void kill() {
    process.destroyForcibly();
  }

  /** Waits a while for the process to end. */
  public void awaitEnd() {
    try {
      process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the process to end, and returns its exit code. */
  int awaitExit() throws InterruptedException {
    return process.waitFor();
  }

  /** Asks the process to end. */
  public void end() {
    process.destroy();
  }

  /** Returns the process's number. */
  public long pid() {
    return process.pid();
  }

  /** Returns the exit code of the process, which has ended. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Asks the process to end, and kills it if it does not. */
  @Override
  public void close() {
    end();
    awaitEnd();
    process.destroyForcibly();
  }

  @Override
  public String toString() {
    return "pid=" + process.pid() + ", arguments=" + arguments;
  }

  private static List<String> mainClass() {
    Module module = JavaProcess.class.getModule();
    List<String> arguments = new ArrayList<>();
    String classPath = System.getProperty("java.class.path");
    if (!classPath.isEmpty()) {
      arguments.addAll(List.of("--class-path", classPath));
    }
    if (module.isNamed()) {
      arguments.addAll(List.of("--module-path", System.getProperty("jdk.module.path")));
      arguments.addAll(List.of("--module", module.getName() + "/" + MAIN));
    } else {
      arguments.add(MAIN);
    }
    return arguments;
  }
}
