package pando.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import pando.fabric.memory.Closing;
import picocli.CommandLine;

/** A command that serves until it is interrupted, in a thread of its own. */
public final class RunningCommand implements AutoCloseable {
  private final StringWriter told;
  private final FutureTask<Integer> running;
  private final Thread thread;

  private RunningCommand(StringWriter told, FutureTask<Integer> running, Thread thread) {
    this.told = told;
    this.running = running;
    this.thread = thread;
  }

  /** Starts a command; returns once it has said that it serves, or has ended. */
  public static RunningCommand start(StringWriter err, String... arguments)
      throws InterruptedException {
    CountDownLatch serves = new CountDownLatch(1);
    StringWriter told =
        new StringWriter() {
          @Override
          public void flush() {
            serves.countDown();
          }
        };
    CommandLine pando = Main.commandLine();
    pando.setOut(new PrintWriter(told)).setErr(new PrintWriter(err));
    FutureTask<Integer> running =
        new FutureTask<>(() -> {
          int exitCode = pando.execute(arguments);
          serves.countDown();
          return exitCode;
        });
    Thread thread = Thread.ofPlatform().start(running);
    serves.await();
    return new RunningCommand(told, running, thread);
  }

  /** Waits until it has ended by itself; returns its exit code. */
  public int exitCode() throws InterruptedException, ExecutionException {
    return running.get();
  }

  /** Returns what it has said that has a form: the first group of a pattern. */
  public String found(String pattern) {
    return CommandFixture.found(told, pattern);
  }

  /** Interrupts it, and waits for its end. */
  @Override
  public void close() {
    thread.interrupt();
    Closing.join(thread);
  }
}
