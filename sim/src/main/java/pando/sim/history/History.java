package pando.sim.history;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The operations of clients on a map, with their results. All times are of one clock. Not
 * thread-safe.
 */
public final class History {
  private final TreeMap<Long, Long> initial = new TreeMap<>();
  private final List<RecordedOperation> operations = new ArrayList<>();
  private final List<Scan> scans = new ArrayList<>();
  private final List<Loss> losses = new ArrayList<>();

  /** Creates an empty history of an empty map. */
  public History() {}

  /** Adds an entry that was in the map before all operations. */
  public void addInitial(long key, long value) {
    initial.put(key, value);
  }

  /** Adds an operation. */
  public void add(RecordedOperation operation) {
    operations.add(operation);
  }

  /** Adds a scan. */
  public void add(Scan scan) {
    scans.add(scan);
  }

  /** Adds a loss. */
  public void add(Loss loss) {
    losses.add(loss);
  }

  /** Returns the entries that were in the map before all operations. */
  public SortedMap<Long, Long> initial() {
    return Collections.unmodifiableSortedMap(initial);
  }

  /** Returns the operations, in the order in which they were added. */
  public List<RecordedOperation> operations() {
    return Collections.unmodifiableList(operations);
  }

  /** Returns the scans, in the order in which they were added. */
  public List<Scan> scans() {
    return Collections.unmodifiableList(scans);
  }

  /** Returns the losses, in the order in which they were added. */
  public List<Loss> losses() {
    return Collections.unmodifiableList(losses);
  }
}
