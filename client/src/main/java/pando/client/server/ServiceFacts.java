package pando.client.server;

import java.util.function.IntToLongFunction;
import java.util.function.Supplier;
import pando.client.Routes;

/**
 * What a service answers with, besides the results of workers.
 *
 * @param index that is served
 * @param routes gives who serves which keys
 * @param statusWord gives a word of the status
 */
record ServiceFacts(ServiceIndex index, Supplier<Routes> routes, IntToLongFunction statusWord) {
  /** Returns the epoch of the partitions that this process knows. */
  long epoch() {
    return index.partitioning().get().epoch();
  }
}
