package pando.index;

import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * Where what is {@link Metered} names its meters. A number is read when somebody asks for it, by
 * any thread. Reading may throw {@link IllegalStateException} or {@link
 * pando.fabric.PandoException}: then there is none, as what it counts is gone.
 */
public interface Meters {
  /**
   * Adds a count of what has happened, which never falls.
   *
   * @param name with {@code pando} in front, its words separated by points
   * @param meaning in a sentence
   * @param tags keys and values in turn; all meters of a name have the same keys
   */
  void count(String name, String meaning, DoubleSupplier number, String... tags);

  /** Adds a number that rises and falls. Parameters are those of {@link #count}. */
  void gauge(String name, String meaning, DoubleSupplier number, String... tags);

  /**
   * Adds a number that rises and falls and takes long to count, as each part of a cache is looked
   * at. It may be some seconds old. Parameters are those of {@link #count}.
   */
  void slowGauge(String name, String meaning, DoubleSupplier number, String... tags);

  /** Adds counts of background tasks. */
  default void tasks(String task, Supplier<TaskCounts> counts) {
    String meaning = "What background tasks have done, and what failed.";
    count("pando.tasks", meaning, () -> counts.get().done(), "task", task, "outcome", "done");
    count("pando.tasks", meaning, () -> counts.get().failed(), "task", task, "outcome", "failed");
  }
}
