package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Operations of a session beside a plain map. */
public final class ByteModelRun {
  private ByteModelRun() {}

  /** Does a random operation with a key and a value. */
  public static void operate(
      ByteSession session,
      NavigableMap<byte[], byte[]> model,
      SplittableRandom random,
      boolean shrinks,
      byte[] key,
      byte[] value) {
    byte @Nullable [] before = model.get(key);
    MemorySegment its = MemorySegment.ofArray(key);
    MemorySegment stored = MemorySegment.ofArray(value);
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> {
        if (shrinks) {
          checkFound(session, session.remove(its), before);
          model.remove(key);
        } else {
          checkFound(session, session.put(its, stored), before);
          model.put(key, value);
        }
      }
      case 4 -> {
        boolean done = session.putIfAbsent(its, stored);
        checkFound(session, !done, before);
        model.putIfAbsent(key, value);
      }
      case 5 -> {
        checkFound(session, session.update(its, stored), before);
        model.replace(key, value);
      }
      case 6 -> {
        session.store(its, stored);
        model.put(key, value);
      }
      case 7 -> {
        session.discard(its);
        model.remove(key);
      }
      case 8 -> {
        byte[] expected = before == null || random.nextInt(4) == 0 ? new byte[1] : before;
        boolean matches = before != null && Arrays.equals(before, expected);
        boolean done = session.replace(its, MemorySegment.ofArray(expected), stored);
        assertThat(done).isEqualTo(matches);
        assertThat(ByteKeys.bytes(session.value()))
            .isEqualTo(before == null ? new byte[0] : before);
        if (matches) {
          model.put(key, value);
        }
      }
      case 9 -> {
        byte[] expected = before == null || random.nextInt(4) == 0 ? new byte[1] : before;
        boolean matches = before != null && Arrays.equals(before, expected);
        assertThat(session.remove(its, MemorySegment.ofArray(expected))).isEqualTo(matches);
        if (matches) {
          model.remove(key);
        }
      }
      case 10 -> checkEntry(session, session.floor(its), model.floorEntry(key));
      case 11 -> checkEntry(session, session.ceiling(its), model.ceilingEntry(key));
      case 12 -> checkEntry(session, session.lower(its), model.lowerEntry(key));
      case 13 -> checkEntry(session, session.higher(its), model.higherEntry(key));
      case 14 -> {
        checkEntry(session, session.first(), model.firstEntry());
        checkEntry(session, session.last(), model.lastEntry());
      }
      case 15 -> checkScan(session, model, key, ByteKeys.draw(random, 8), random.nextInt(50));
      case 16 -> checkScanDown(session, model, key, ByteKeys.draw(random, 8), random.nextInt(50));
      default -> {
        checkFound(session, session.get(its), before);
      }
    }
  }

  private static void checkFound(ByteSession session, boolean found, byte @Nullable [] before) {
    assertThat(found).isEqualTo(before != null);
    if (before != null) {
      assertThat(ByteKeys.bytes(session.value())).isEqualTo(before);
    }
  }

  private static void checkEntry(
      ByteSession session, boolean found, Map.@Nullable Entry<byte[], byte[]> entry) {
    assertThat(found).isEqualTo(entry != null);
    if (entry != null) {
      assertThat(ByteKeys.bytes(session.key())).isEqualTo(entry.getKey());
      assertThat(ByteKeys.bytes(session.value())).isEqualTo(entry.getValue());
    }
  }

  private static void checkScan(
      ByteSession session, NavigableMap<byte[], byte[]> model, byte[] from, byte[] end, int limit) {
    boolean ends = Arrays.compareUnsigned(from, end) <= 0;
    List<byte[]> seen = new ArrayList<>();
    long visited =
        session.scan(
            MemorySegment.ofArray(from),
            ends ? MemorySegment.ofArray(end) : null,
            limit,
            (key, value) -> {
              seen.add(ByteKeys.bytes(key));
              assertThat(ByteKeys.bytes(value)).isEqualTo(model.get(ByteKeys.bytes(key)));
              return true;
            });
    NavigableMap<byte[], byte[]> part =
        ends ? model.subMap(from, true, end, false) : model.tailMap(from, true);
    checkKeys(seen, part.navigableKeySet(), limit, visited);
  }

  private static void checkScanDown(
      ByteSession session, NavigableMap<byte[], byte[]> model, byte[] to, byte[] end, int limit) {
    boolean ends = Arrays.compareUnsigned(end, to) >= 0;
    List<byte[]> seen = new ArrayList<>();
    long visited =
        session.scanDown(
            ends ? MemorySegment.ofArray(end) : null,
            MemorySegment.ofArray(to),
            limit,
            (key, value) -> {
              seen.add(ByteKeys.bytes(key));
              assertThat(ByteKeys.bytes(value)).isEqualTo(model.get(ByteKeys.bytes(key)));
              return true;
            });
    NavigableMap<byte[], byte[]> part =
        ends ? model.subMap(to, true, end, false) : model.tailMap(to, true);
    checkKeys(seen, part.descendingKeySet(), limit, visited);
  }

  private static void checkKeys(
      List<byte[]> seen, Iterable<byte[]> expected, int limit, long visited) {
    List<byte[]> keys = new ArrayList<>();
    for (byte[] key : expected) {
      if (keys.size() < limit) {
        keys.add(key);
      }
    }
    assertThat(visited).isEqualTo(seen.size());
    assertThat(seen).usingElementComparator(Arrays::compareUnsigned).isEqualTo(keys);
  }

  /** Checks that a session has the entries of a map, and in its order both ways. */
  public static void checkAll(ByteSession session, NavigableMap<byte[], byte[]> model) {
    checkScan(session, model, new byte[0], new byte[0], Integer.MAX_VALUE);
    checkScan(session, model, new byte[1], new byte[0], Integer.MAX_VALUE);
    checkScanDown(session, model, new byte[1], new byte[0], Integer.MAX_VALUE);
  }
}
