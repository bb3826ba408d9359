package pando.sim.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Checks the contract of an ordered map: point operations are linearizable; a scan is in order,
 * without duplicates, and its result is right for each key in its range at some moment of the scan.
 *
 * <p>Keys are checked one by one. A scan counts as a read of each key in its range: a key that it
 * returned had that value, and a key that it did not return was absent, at some moment between its
 * start and its end. So a key that was present during the whole scan must have been returned.
 *
 * <p>A {@link Loss} takes keys back to values that they had before it.
 */
public final class HistoryCheck {
  private HistoryCheck() {}

  /**
   * Returns a text for each key or scan that breaks the contract or could not be checked. Empty if
   * there is none.
   */
  public static List<String> violations(History history) {
    List<String> violations = new ArrayList<>();
    Map<Long, List<RecordedOperation>> byKey = new TreeMap<>();
    for (RecordedOperation operation : history.operations()) {
      byKey.computeIfAbsent(operation.key(), key -> new ArrayList<>()).add(operation);
    }
    NavigableSet<Long> keys = new TreeSet<>(byKey.keySet());
    keys.addAll(history.initial().keySet());
    history.scans().forEach(scan -> scan.entries().forEach(entry -> keys.add(entry.key())));
    for (Scan scan : history.scans()) {
      String disorder = disorder(scan);
      if (disorder == null) {
        addReads(scan, keys, byKey);
      } else {
        violations.add(disorder);
      }
    }
    byKey.forEach((key, operations) -> {
      String violation = violation(key, operations, history);
      if (violation != null) {
        violations.add(violation);
      }
    });
    return violations;
  }

  private static @Nullable String violation(
      long key, List<RecordedOperation> operations, History history) {
    try {
      List<Loss> losses = history.losses().stream().filter(loss -> loss.covers(key)).toList();
      return new KeySearch(operations, losses).run(history.initial().get(key));
    } catch (EntangledException e) {
      return "key " + key + " could not be checked: " + e.getMessage();
    }
  }

  private static @Nullable String disorder(Scan scan) {
    long previous = 0;
    for (int i = 0; i < scan.entries().size(); i++) {
      long key = scan.entries().get(i).key();
      if (key < scan.least() || key > scan.greatest()) {
        return "scan returned a key outside its range: key=" + key + ", " + scan;
      }
      if (i > 0 && (scan.isDown() ? key >= previous : key <= previous)) {
        return "scan is not in order: key=" + key + ", after=" + previous + ", " + scan;
      }
      previous = key;
    }
    return null;
  }

  private static void addReads(
      Scan scan, NavigableSet<Long> keys, Map<Long, List<RecordedOperation>> byKey) {
    Map<Long, Long> seen = new HashMap<>();
    scan.entries().forEach(entry -> seen.put(entry.key(), entry.value()));
    for (long key : keys.subSet(scan.least(), true, scan.greatest(), true)) {
      byKey
          .computeIfAbsent(key, absent -> new ArrayList<>())
          .add(RecordedOperation.read(scan.client(), scan.start(), scan.end(), key, seen.get(key)));
    }
  }
}
