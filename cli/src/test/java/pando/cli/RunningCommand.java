package pando.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine;

/** A command that serves until it is interrupted, in a thread of its own. */
public final class RunningCommand implements AutoCloseable {
  private final StringWriter told;
  private final Thread thread;

  private RunningCommand(StringWriter told, Thread thread) {
    this.told = told;
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
    Thread thread =
        Thread.ofPlatform()
            .start(() -> {
              pando.execute(arguments);
              serves.countDown();
            });
    serves.await();
    return new RunningCommand(told, thread);
  }

  /** Returns what it has said that has a form: the first group of a pattern. */
  public String found(String pattern) {
    return CommandFixture.found(told, pattern);
  }

  /** Interrupts it, and waits for its end. */
  @Override
  public void close() {
    thread.interrupt();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
