package pando.cli.text;

import java.io.Console;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;

/**
 * A progress bar on the terminal's last line; prints nothing if there is no terminal. Thread-safe.
 */
public final class Progress implements AutoCloseable {
  /** Tasks with fewer steps show no bar, as they end too soon. */
  private static final long STEPS_MIN = 500_000;

  private static final long SEEDS_MIN = 20;

  private static final int UPDATE_MILLIS = 250;

  private final @Nullable ProgressBar bar;

  /** Moves the bar, if nobody else does. */
  private final @Nullable Thread watcher;

  private Progress(@Nullable ProgressBar bar) {
    this(bar, null);
  }

  private Progress(@Nullable ProgressBar bar, @Nullable Thread watcher) {
    this.bar = bar;
    this.watcher = watcher;
  }

  /**
   * Begins a task.
   *
   * @param task a word or two
   * @param steps until it is done
   */
  public static Progress of(String task, long steps) {
    return new Progress(steps < STEPS_MIN || !isTerminal() ? null : bar(task, steps));
  }

  /**
   * Begins a task that is asked a few times a second how far it is.
   *
   * @param done steps, asked by another thread
   */
  public static Progress watched(String task, long steps, LongSupplier done) {
    ProgressBar bar = of(task, steps).bar;
    return new Progress(bar, bar == null ? null : watcher(bar, done));
  }

  /** Begins trials, each of which takes a while. */
  public static Progress ofSeeds(long seeds) {
    if (seeds < SEEDS_MIN || !isTerminal()) {
      return new Progress(null);
    }
    return new Progress(builder("seeds", seeds).build());
  }

  /** Notes that so many further steps are done. */
  public void step(long steps) {
    if (bar != null) {
      bar.stepBy(steps);
    }
  }

  private static Thread watcher(ProgressBar bar, LongSupplier done) {
    return Thread.ofPlatform()
        .daemon()
        .name("progress")
        .start(() -> {
          while (!Thread.interrupted()) {
            bar.stepTo(done.getAsLong());
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(UPDATE_MILLIS));
          }
        });
  }

  /** Ends the task and clears the line. */
  @Override
  public void close() {
    if (watcher != null) {
      watcher.interrupt();
      Closing.join(watcher);
    }
    if (bar != null) {
      bar.close();
    }
  }

  // The console is null nevertheless with the JDK's plain console.
  @SuppressWarnings("SystemConsoleNull")
  private static boolean isTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private static ProgressBar bar(String task, long steps) {
    return builder(task, steps).setUnit("M", 1_000_000).build();
  }

  private static ProgressBarBuilder builder(String task, long steps) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(steps)
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(UPDATE_MILLIS)
        .clearDisplayOnFinish();
  }
}
