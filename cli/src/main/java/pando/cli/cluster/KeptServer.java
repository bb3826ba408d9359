package pando.cli.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * A server's process, and another one of its number and address where it has ended by itself. A
 * line says what happened, and what was lost.
 */
final class KeptServer implements AutoCloseable {
  private static final String LOSS =
      ": what it had not written back is lost, unless the cluster has a log";

  private static final Pattern READY = Pattern.compile(".* is ready at \\S+:(\\d+) .*");
  private static final int ANY_PORT = 0;

  /** Exit codes of servers, and what signals make of them. */
  private static final int REMOVED = 0;

  private static final int FENCED = 3;
  private static final int OTHERS_GONE = 4;
  private static final int INTERRUPTED = 130;
  private static final int KILLED = 137;
  private static final int TERMINATED = 143;

  private final String name;
  private final Starter starter;
  private final IntFunction<String> whatHappened;
  private final boolean isRestarted;
  private final Consumer<String> lines;
  private final Runnable onEnd;
  private final Restarts restarts = new Restarts();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread keeper;
  private volatile @Nullable JavaProcess process;
  private long started;
  private int port = ANY_PORT;

  /** Starts processes of a server. */
  interface Starter {
    /**
     * Starts one.
     *
     * @param port at which it serves, 0 for any
     */
    JavaProcess start(int port) throws IOException;
  }

  /**
   * Creates it; nothing is started.
   *
   * @param name of the server, for people
   * @param whatHappened returns what an exit code means, behind the name
   * @param isRestarted whether another process is started where one has ended by itself
   * @param lines receives a line about each process that has ended by itself
   * @param onEnd run when none is left, and none will be started
   */
  KeptServer(
      String name,
      Starter starter,
      IntFunction<String> whatHappened,
      boolean isRestarted,
      Consumer<String> lines,
      Runnable onEnd) {
    this.name = name;
    this.starter = starter;
    this.whatHappened = whatHappened;
    this.isRestarted = isRestarted;
    this.lines = lines;
    this.onEnd = onEnd;
    this.keeper = Thread.ofPlatform().name("keeps-" + name).daemon().unstarted(this::keep);
  }

  /** Starts the first process. */
  synchronized void start() throws IOException {
    if (isClosing()) {
      throw new IOException("closed while it starts: " + name);
    }
    started = System.nanoTime();
    process = starter.start(port);
  }

  /**
   * Waits until the first process is ready, and keeps one running from then on.
   *
   * @throws IOException if it has ended
   */
  void awaitReady() throws IOException {
    readPort();
    keeper.start();
  }

  private void readPort() throws IOException {
    String line = running().awaitLine();
    Matcher matcher = READY.matcher(line);
    if (!matcher.matches()) {
      throw new IOException("not what a server prints: line=" + line);
    }
    port = Integer.parseInt(matcher.group(1));
  }

  private JavaProcess running() {
    return Objects.requireNonNull(process);
  }

  /** Returns the port at which clients are served, once it was ready. */
  int port() {
    return port;
  }

  /** Returns the number of the process that was started last. */
  long pid() {
    return running().pid();
  }

  private void keep() {
    try {
      while (startsAgain(running().awaitExit())) {
        restart();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      onEnd.run();
    }
  }

  /** Reports an end, waits, and returns whether to start again. */
  private boolean startsAgain(int exitCode) throws InterruptedException {
    if (isClosing()) {
      return false;
    }
    Duration ran = Duration.ofNanos(System.nanoTime() - started);
    Optional<Duration> pause = isMeant(exitCode) ? Optional.empty() : restarts.pauseAfter(ran);
    lines.accept(
        "%s (process %d) %s; %s"
            .formatted(name, pid(), whatHappened.apply(exitCode), whatNext(exitCode, pause)));
    return pause.isPresent() && !closing.await(pause.get().toMillis(), TimeUnit.MILLISECONDS);
  }

  private boolean isClosing() {
    return closing.getCount() == 0;
  }

  private boolean isMeant(int exitCode) {
    return !isRestarted || exitCode == REMOVED || exitCode == INTERRUPTED || exitCode == TERMINATED;
  }

  /** Returns what an exit code of a compute server means. */
  static String ofCompute(int exitCode) {
    return switch (exitCode) {
      case REMOVED -> "was taken out of the cluster: nothing is lost";
      case INTERRUPTED, TERMINATED -> "was asked to end";
      case OTHERS_GONE -> "found no coordinator, and wrote back what it had: nothing is lost";
      case FENCED -> "was fenced, and others have its keys" + LOSS;
      case KILLED -> "was killed, and others get its keys" + LOSS;
      default -> "has failed with exit code %d, and others get its keys".formatted(exitCode) + LOSS;
    };
  }

  private String whatNext(int exitCode, Optional<Duration> pause) {
    if (isMeant(exitCode)) {
      return "it is not started again";
    }
    return pause
        .map(wait -> "it starts again in %d s".formatted(wait.toSeconds()))
        .orElse(
            "it has ended %d times within %d s of its start, and is not started again: see above why"
                .formatted(Restarts.FAILURES_MAX + 1, Restarts.LONG.toSeconds()));
  }

  private void restart() {
    try {
      start();
      readPort();
      lines.accept("%s is process %d now".formatted(name, pid()));
    } catch (IOException e) {
      // If it has ended, the next line says so; if it could not be started, that is tried again.
      lines.accept("%s is not ready: %s".formatted(name, e.getMessage()));
    }
  }

  /** Asks the process to end, and starts no other; {@link #close} waits for it. */
  synchronized void end() {
    closing.countDown();
    JavaProcess running = process;
    if (running != null) {
      running.end();
    }
  }

  /** Ends the process. */
  @Override
  public void close() {
    end();
    JavaProcess running = process;
    if (running != null) {
      running.close();
    }
    Closing.join(keeper);
  }
}
