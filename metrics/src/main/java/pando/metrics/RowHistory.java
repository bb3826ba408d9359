package pando.metrics;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** The numbers of the last ten minutes, a row a second, whether a page is open or not. */
final class RowHistory implements AutoCloseable {
  /** As many as a chart of the page has points. */
  static final int ROWS_MAX = 600;

  private static final System.Logger LOG = System.getLogger(RowHistory.class.getName());
  private static final long PERIOD_MILLIS = 1_000;

  private final LiveFeed feed;
  private final Thread keeper;
  private volatile List<String> rows;

  /**
   * Begins to keep rows.
   *
   * @param second which second it is
   */
  RowHistory(LiveFeed feed, LongSupplier second) {
    this.feed = feed;
    this.rows = List.of(feed.numbers(second.getAsLong()));
    this.keeper = Thread.ofVirtual().name("pando-http-history").start(() -> keepEachSecond(second));
  }

  private void keepEachSecond(LongSupplier second) {
    try {
      while (true) {
        Thread.sleep(PERIOD_MILLIS);
        keep(second.getAsLong());
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  /** Keeps the row of a second; none where it cannot be made. */
  void keep(long second) {
    try {
      rows = kept(rows, feed.numbers(second));
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "a row of the page could not be made", e);
    }
  }

  /** Returns rows with another one behind them, without the first if there are too many. */
  static List<String> kept(List<String> rows, String next) {
    return Stream.concat(rows.stream().skip(rows.size() == ROWS_MAX ? 1 : 0), Stream.of(next))
        .toList();
  }

  /** Returns the rows, oldest first. */
  List<String> rows() {
    return rows;
  }

  /** Ends keeping rows. */
  @Override
  public void close() {
    keeper.interrupt();
  }
}
