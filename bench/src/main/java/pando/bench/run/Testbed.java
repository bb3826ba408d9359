package pando.bench.run;

import java.io.IOException;
import java.time.Duration;
import pando.bench.workload.Workload;
import pando.cli.WrongResultException;

/**
 * A loaded map, ready for workloads. After a workload that inserts it holds more records than were
 * loaded, and must not be used for another. Not thread-safe.
 */
public interface Testbed extends AutoCloseable {
  /**
   * Returns how long the map took to take the records, which were there and in order; zero where
   * that is not known.
   */
  default Duration loadTime() {
    return Duration.ZERO;
  }

  /**
   * Runs a workload: a warm-up, then what is measured.
   *
   * @throws WrongResultException if an answer was wrong
   */
  Measurement run(Workload workload) throws IOException;

  /**
   * Reads every entry again and checks it.
   *
   * @throws WrongResultException if an entry was wrong
   */
  Audit audit() throws IOException;

  /**
   * Returns the memory that the map takes now.
   *
   * @param records that it holds
   */
  Footprint footprint(long records) throws IOException;

  /** Frees all resources. */
  @Override
  void close();
}
