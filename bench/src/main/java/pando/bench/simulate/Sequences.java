package pando.bench.simulate;

import java.util.Arrays;
import pando.bench.records.Records;
import pando.bench.workload.Inserts;
import pando.bench.workload.Values;
import pando.cli.WrongResultException;

/**
 * The values that a read may find in each record while clients update it in virtual time, where a
 * client runs without interruption between two waits. Updates are numbered in the order in which
 * they begin.
 *
 * <p>A value is stale to a read where a later update began after the value's own had ended, and
 * ended before the read began. So nothing that a read finds may be older than the oldest update
 * that was under way when some update began which had ended before the read did begin: {@link
 * #least}. Nor may it be newer than the last update that has begun.
 */
final class Sequences {
  private static final long NONE = -1;

  private final Records records;
  private final Inserts inserts;
  private final Values values;

  /** The last update of each record that has begun. */
  private final int[] begun;

  /** The oldest of each record that is not stale. */
  private final int[] least;

  // For each client, the record that it is updating, if any, and the oldest update that was under
  // way when it began.
  private final long[] updating;
  private final int[] sequence;
  private final int[] oldest;

  private long verified;

  Sequences(Records records, long loaded, Inserts inserts, int clients, Values values) {
    this.records = records;
    this.inserts = inserts;
    this.values = values;
    begun = new int[Math.toIntExact(loaded)];
    least = new int[begun.length];
    updating = new long[clients];
    Arrays.fill(updating, NONE);
    sequence = new int[clients];
    oldest = new int[clients];
  }

  /** Returns the number of values that were checked. */
  long verified() {
    return verified;
  }

  /** Begins a client's update of a record and returns the sequence whose value it writes. */
  int beginUpdate(int client, long record) {
    int next = begun[(int) record] + 1;
    oldest[client] = oldestUnderWay(record, next);
    begun[(int) record] = next;
    updating[client] = record;
    sequence[client] = next;
    return values.written(next);
  }

  private int oldestUnderWay(long record, int next) {
    if (least[(int) record] == next - 1) {
      // The last update began alone and has ended.
      return next;
    }
    int found = next;
    for (int client = 0; client < updating.length; client++) {
      if (updating[client] == record) {
        found = Math.min(found, sequence[client]);
      }
    }
    return found;
  }

  /** Returns whether no update finds the value that it writes. */
  boolean areDistinct() {
    return values == Values.CHANGING;
  }

  /** Ends a client's update. */
  void endUpdate(int client) {
    int record = (int) updating[client];
    least[record] = Math.max(least[record], oldest[client]);
    updating[client] = NONE;
  }

  /** Returns the least sequence of a record that a read which begins now may find. */
  int least(long record) {
    return record < least.length ? values.written(least[(int) record]) : 0;
  }

  /**
   * Checks a value that was found.
   *
   * @param least the least sequence that may be found
   * @throws WrongResultException if no update wrote the value, or the value is older
   */
  void check(long key, long value, int least) {
    long record = records.record(key);
    long found = Records.sequence(key, value);
    int most = record >= 0 && record < begun.length ? values.written(begun[(int) record]) : 0;
    if (!inserts.mayExist(record) || found < least || found > most) {
      throw new WrongResultException(
          "a record has a wrong value: key="
              + key
              + ", value="
              + value
              + ", record="
              + record
              + ", sequence="
              + found
              + ", expectedSequence="
              + least
              + ".."
              + most
              + ", seed="
              + records.seed());
    }
    verified++;
  }
}
