package pando.index.host;

import java.util.function.LongSupplier;
import pando.index.Partitioning;
import pando.index.Partitioning.Bound;

/** Keys that are to leave a compute server, until it has given them, or keeps them. */
public interface Parting extends AutoCloseable {
  /** Returns where the upper part begins: at a fence between leaves. Operations are kept out. */
  Bound bound();

  /**
   * Makes the pool ready for a table that is written next. Operations are kept out. Where that is
   * written, {@link HostedServer#takeOn} ends the giving.
   */
  void give(int receiver, Partitioning after);

  /** Takes back what was not given. */
  @Override
  void close();

  /** Returns one at a bound, where there is no more to do than to find it. */
  static Parting at(LongSupplier bound) {
    return new Parting() {
      @Override
      public Bound bound() {
        return Bound.of(bound.getAsLong());
      }

      @Override
      public void give(int receiver, Partitioning after) {}

      @Override
      public void close() {}
    };
  }
}
