package pando.bench.workload;

import java.util.SplittableRandom;
import java.util.function.LongPredicate;
import pando.bench.records.Mix;
import pando.bench.records.Records;

/**
 * One client's operations, one batch after the other: the same for the same seed and client,
 * whatever they run against; except with {@link Distribution#LATEST}, which depends on the inserts
 * of all clients. Not thread-safe.
 */
public final class OperationStream {
  /** Draws before a client gives up, as most keys may belong to other compute servers. */
  private static final int DRAWS_MAX = 1 << 22;

  private final Workload workload;
  private final Distribution.Draw distribution;
  private final Records records;
  private final Inserts inserts;
  private final LongPredicate owned;
  private final int client;
  private final SplittableRandom random;

  /**
   * Creates the stream.
   *
   * @param distribution of lookups, updates and scans
   * @param owned keys that operations may fall on; others are drawn again
   * @param client number of the client among all of the run
   */
  public OperationStream(
      Workload workload,
      Distribution.Draw distribution,
      Records records,
      Inserts inserts,
      LongPredicate owned,
      int client) {
    this.workload = workload;
    this.distribution = distribution;
    this.records = records;
    this.inserts = inserts;
    this.owned = owned;
    this.client = client;
    random =
        new SplittableRandom(
            Mix.mix(Mix.mix(records.seed()) + workload.name().hashCode()) + client);
  }

  /**
   * Fills a batch with the next operations.
   *
   * @param batch empty, or filled by this stream, and all that it holds has been done
   * @throws NoKeysException if hardly any key passes
   */
  public void fill(Batch batch, int size) {
    tellInserted(batch);
    batch.clear();
    for (int i = 0; i < size; i++) {
      add(batch, workload.draw(random));
    }
  }

  private void add(Batch batch, WorkloadOperation operation) {
    for (int draws = 0; draws < DRAWS_MAX; draws++) {
      long record = operation.adds() ? inserts.next(client) : distribution.next(random);
      long key = records.key(record);
      if (owned.test(key)) {
        int length = operation == WorkloadOperation.SCAN ? workload.scanLength(random) : 0;
        batch.add(operation, record, key, length);
        return;
      }
    }
    throw new NoKeysException(operation, client, DRAWS_MAX);
  }

  private void tellInserted(Batch done) {
    for (int i = 0; i < done.size(); i++) {
      if (done.operation(i).adds()) {
        distribution.onInserted(done.record(i));
      }
    }
  }
}
