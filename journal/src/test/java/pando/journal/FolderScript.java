package pando.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Random changes of a folder, and what may be found of them: a state that was after one of them,
 * and after all that were acknowledged or synced.
 */
final class FolderScript {
  private static final LogOptions SMALL =
      LogOptions.defaults().withSegmentBytes(LogOptions.SEGMENT_BYTES_MIN);
  private static final int KEYS = 40;
  private static final int VALUE_BYTES_MAX = 3_000;
  private static final int GROUP_CHANGES_MAX = 5;

  private final SplittableRandom random;
  private final LogOptions options;
  private final RecordBuilder record = new RecordBuilder();
  private final TreeMap<String, String> model = new TreeMap<>();

  /** The state after each number of changes, and the place behind the last of them. */
  private final List<Integer> states = new ArrayList<>(List.of(new TreeMap<>().hashCode()));

  private final List<Long> places = new ArrayList<>(List.of(0L));
  private volatile int acknowledged;
  private volatile @Nullable Log log;

  FolderScript(long seed, SyncPolicy policy) {
    this.random = new SplittableRandom(seed);
    this.options = SMALL.withSync(policy);
  }

  /** Opens a folder, checks what is there, makes changes, and closes it. */
  void run(Disk disk, int changes) throws IOException {
    try (DataFolder folder = open(disk)) {
      check(read(folder), acknowledged);
      Log begun = folder.begin();
      log = begun;
      for (int i = 0; i < changes; i++) {
        change(begun);
      }
    }
    acknowledge();
  }

  /**
   * As {@link #run}, where the disk fails.
   *
   * @return whether all changes were made
   */
  boolean runUntilFailure(Disk disk, int changes) throws IOException {
    try {
      run(disk, changes);
      return true;
    } catch (IOException | LogFailedException | LogFullException e) {
      return false;
    }
  }

  DataFolder open(Disk disk) throws IOException {
    return DataFolder.open(disk, "byte-strings", options, () -> {});
  }

  private void change(Log to) {
    Map<String, @Nullable String> changes = random.nextInt(5) == 0 ? group() : single();
    to.reserve(record.bytes());
    synchronized (this) {
      changes.forEach((key, value) -> {
        if (value == null) {
          model.remove(key);
        } else {
          model.put(key, value);
        }
      });
      states.add(model.hashCode());
      places.add(to.append(record));
    }
    if (options.sync() == SyncPolicy.ALWAYS) {
      to.awaitSynced(places.getLast());
      acknowledge();
    } else if (random.nextInt(50) == 0) {
      to.awaitSynced(to.end());
    }
  }

  /** Makes a record of one change; returns what it changes. */
  private Map<String, @Nullable String> single() {
    byte[] key = key();
    byte @Nullable [] value = value();
    if (value == null) {
      record.remove(MemorySegment.ofArray(key));
    } else {
      record.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
    }
    Map<String, @Nullable String> changes = new HashMap<>();
    changes.put(text(key), value == null ? null : text(value));
    return changes;
  }

  /** Makes a record of changes of several keys; returns what it changes. */
  private Map<String, @Nullable String> group() {
    Map<String, @Nullable String> changes = new HashMap<>();
    record.group();
    for (int i = random.nextInt(GROUP_CHANGES_MAX); i >= 0; i--) {
      byte[] key = key();
      byte @Nullable [] value = value();
      if (!changes.containsKey(text(key))) {
        changes.put(text(key), value == null ? null : text(value));
        if (value == null) {
          record.addRemove(MemorySegment.ofArray(key));
        } else {
          record.addPut(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        }
      }
    }
    return changes;
  }

  private byte[] key() {
    return ("key" + random.nextInt(KEYS)).getBytes(UTF_8);
  }

  /** Returns a value, or {@code null} for a removal. */
  private byte @Nullable [] value() {
    if (random.nextInt(4) == 0) {
      return null;
    }
    byte[] value = new byte[random.nextInt(random.nextBoolean() ? 40 : VALUE_BYTES_MAX)];
    random.nextBytes(value);
    return value;
  }

  private void acknowledge() {
    acknowledged = states.size() - 1;
  }

  /** Returns how many changes are in the log. */
  synchronized int made() {
    return states.size() - 1;
  }

  /** Returns how many changes a crash at this moment must not lose. */
  int safe() {
    Log begun = log;
    if (options.sync() == SyncPolicy.ALWAYS || begun == null) {
      return acknowledged;
    }
    long synced = begun.synced();
    synchronized (this) {
      int count = acknowledged;
      while (count + 1 < places.size() && places.get(count + 1) <= synced) {
        count++;
      }
      return count;
    }
  }

  /** Opens what a crash has left, and checks it. */
  void check(Disk crashed, int safe) throws IOException {
    try (DataFolder folder = open(crashed)) {
      check(read(folder), safe);
    }
  }

  private synchronized void check(Map<String, String> found, int safe) {
    List<Integer> possible = states.subList(safe, states.size());
    assertThat(possible)
        .as("state after %s to %s changes: found=%s", safe, states.size() - 1, found.keySet())
        .contains(found.hashCode());
  }

  /** Returns all entries of a folder. */
  static Map<String, String> read(DataFolder folder) throws IOException {
    Map<String, String> found = new TreeMap<>();
    try (EntryStream entries = folder.entries()) {
      while (entries.next()) {
        found.put(text(bytes(entries.key())), text(bytes(entries.value())));
      }
    }
    return found;
  }

  private static byte[] bytes(MemorySegment segment) {
    return segment.toArray(ValueLayout.JAVA_BYTE);
  }

  private static String text(byte[] bytes) {
    CRC32C sum = new CRC32C();
    sum.update(bytes);
    return Arrays.hashCode(bytes) + ":" + bytes.length + ":" + sum.getValue();
  }
}
