package pando.cli.text;

import java.io.Console;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/**
 * A progress bar on the terminal's last line; prints nothing if there is no terminal. Thread-safe.
 */
public final class Progress implements AutoCloseable {
  /** Tasks with fewer steps show no bar, as they end too soon. */
  private static final long STEPS_MIN = 500_000;

  private static final long SEEDS_MIN = 20;

  private static final int UPDATE_MILLIS = 250;

  private final @Nullable ProgressBar bar;

  private Progress(@Nullable ProgressBar bar) {
    this.bar = bar;
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

  /** Ends the task and clears the line. */
  @Override
  public void close() {
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
