package pando.cli.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server's process that is killed, stopped and let go on. What it tells goes to a file. */
final class TestedProcess implements AutoCloseable {
  private static final Pattern READY = Pattern.compile(".* is ready at (\\S+) .*");
  private static final long END_SECONDS = 30;

  /** What is read behind the last line. */
  private static final String NO_MORE = "";

  /** Killed when this JVM ends. Those that have ended stay in it. */
  private static final Set<Process> STARTED = ConcurrentHashMap.newKeySet();

  static {
    Runnable killAll = () -> STARTED.forEach(Process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(new Thread(killAll));
  }

  private final List<String> command;
  private final Process process;
  private final CompletableFuture<String> ready = new CompletableFuture<>();
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private volatile boolean disturbed;

  private TestedProcess(List<String> command, Process process) {
    this.command = command;
    this.process = process;
  }

  /** Starts a process, whose errors are appended to a file. */
  static TestedProcess start(List<String> command, Path log) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      STARTED.add(process);
      TestedProcess started = new TestedProcess(command, process);
      Thread.ofPlatform().daemon().name("reads-" + process.pid()).start(started::read);
      return started;
    } catch (IOException e) {
      throw new UncheckedIOException("does not start: command=" + command, e);
    }
  }

  private void read() {
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Matcher matcher = READY.matcher(line);
        if (matcher.matches()) {
          ready.complete(matcher.group(1));
        } else {
          answers.add(line);
        }
      }
    } catch (IOException e) {
      ready.completeExceptionally(e);
    }
    ready.completeExceptionally(new IllegalStateException("has ended: " + this));
    answers.add(NO_MORE);
  }

  /** Waits until it is ready. */
  void awaitReady(long seconds) {
    try {
      ready.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new CompletionException("not ready: " + this, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException("interrupted: " + this, e);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Sends it a line; whether that arrives shows in the {@link #answer}. */
  void send(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException hasEnded) {
      // There is no answer, then.
    }
  }

  /** Waits for the next line that it prints; returns an empty one if it has ended. */
  String answer(long seconds) {
    try {
      String line = answers.poll(seconds, TimeUnit.SECONDS);
      if (line == null) {
        throw new IllegalStateException("does not answer: seconds=" + seconds + ", " + this);
      }
      return line;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException("interrupted: " + this, e);
    }
  }

  /** Returns whether it has said that it is ready. */
  boolean isReady() {
    return ready.isDone() && !ready.isCompletedExceptionally();
  }

  /** Returns whether it was killed, stopped or asked to end. */
  boolean isDisturbed() {
    return disturbed;
  }

  /** Returns the exit code, if it ends in time. */
  OptionalInt awaitExit(long seconds) {
    try {
      return process.waitFor(seconds, TimeUnit.SECONDS)
          ? OptionalInt.of(process.exitValue())
          : OptionalInt.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException("interrupted: " + this, e);
    }
  }

  /** Kills it, by SIGKILL; when this returns, it runs no more. */
  void kill() {
    disturbed = true;
    process.destroyForcibly();
    if (awaitExit(END_SECONDS).isEmpty()) {
      throw new IllegalStateException("not killed: " + this);
    }
  }

  /** Asks it to end, by SIGTERM. */
  void end() {
    disturbed = true;
    process.destroy();
  }

  /** Stops it, by SIGSTOP; when this returns, all of its threads stand still. */
  void stop() {
    disturbed = true;
    signal("STOP");
    Path stat = Path.of("/proc/" + process.pid() + "/stat");
    try {
      while (!Files.readString(stat).replaceFirst(".*\\) ", "").startsWith("T")) {
        Thread.onSpinWait();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("not stopped: " + this, e);
    }
  }

  /** Notes that it may end, as another process that it needs does. */
  void expectEnd() {
    disturbed = true;
  }

  /** Takes it for one to which nothing was done, as it goes on like one. */
  void undisturbed() {
    disturbed = false;
  }

  /** Lets it go on, by SIGCONT. */
  void goOn() {
    signal("CONT");
  }

  private void signal(String name) {
    List<String> kill = new ArrayList<>(List.of("kill", "-" + name, String.valueOf(process.pid())));
    try {
      int exit = new ProcessBuilder(kill).inheritIO().start().waitFor();
      if (exit != 0) {
        throw new IllegalStateException("no signal was sent: name=" + name + ", " + this);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CompletionException("interrupted: " + this, e);
    }
  }

  @Override
  public void close() {
    if (process.isAlive()) {
      kill();
    }
  }

  @Override
  public String toString() {
    return "pid=" + process.pid() + ", command=" + command;
  }
}
