package pando.metrics;

import java.util.List;
import pando.index.Meters;

/** A cluster, as a page shows it. Thread-safe; what it returns has no key that is stored. */
public interface Watched {
  /** Returns the name of the system whose entries these are. */
  String name();

  /**
   * Returns what was last seen of it, one JSON object without line breaks, which the page knows as
   * its {@code cluster}. Called once a second.
   */
  String json();

  /** Returns why it was not ready when it was last looked at, one line each. */
  List<String> hindrances();

  /** Names its meters, which have the numbers of the last look. */
  void meters(Meters to);
}
