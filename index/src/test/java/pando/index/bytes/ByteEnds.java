package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The empty string, strings of zeros, and of FF up to the longest, beside a tree map. */
public final class ByteEnds {
  private ByteEnds() {}

  /**
   * Checks a session of an empty index with all these strings, with the least alone, and with the
   * greatest alone, and leaves the index empty.
   */
  public static void check(ByteSession session, int lengthMax) {
    List<byte[]> ends = ends(lengthMax);
    checkWith(session, ends, ends);
    for (byte[] one : List.of(ends.getFirst(), ends.getLast())) {
      checkWith(session, List.of(one), ends);
    }
  }

  private static List<byte[]> ends(int lengthMax) {
    byte[] greatest = new byte[lengthMax];
    Arrays.fill(greatest, (byte) -1);
    byte[] below = greatest.clone();
    below[lengthMax - 1]--;
    List<byte[]> ends = new ArrayList<>(List.of(new byte[0], new byte[1], new byte[lengthMax]));
    for (int length : new int[] {1, 7, 8, 9}) {
      if (length < lengthMax - 1) {
        ends.add(Arrays.copyOf(greatest, length));
      }
    }
    ends.addAll(List.of(Arrays.copyOf(greatest, lengthMax - 1), below, greatest));
    return ends;
  }

  private static void checkWith(ByteSession session, List<byte[]> keys, List<byte[]> bounds) {
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    for (byte[] key : keys) {
      byte[] value = {(byte) model.size()};
      model.put(key, value);
      session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
    }
    assertFound(session, session.first(), model.firstEntry());
    assertFound(session, session.last(), model.lastEntry());
    for (byte[] bound : bounds) {
      MemorySegment at = MemorySegment.ofArray(bound);
      assertThat(session.get(at)).isEqualTo(model.containsKey(bound));
      assertFound(session, session.lower(at), model.lowerEntry(bound));
      assertFound(session, session.floor(at), model.floorEntry(bound));
      assertFound(session, session.ceiling(at), model.ceilingEntry(bound));
      assertFound(session, session.higher(at), model.higherEntry(bound));
      checkScans(session, model.tailMap(bound, true), bound, null);
      for (byte[] end : bounds) {
        if (Arrays.compareUnsigned(bound, end) <= 0) {
          checkScans(session, model.subMap(bound, true, end, false), bound, end);
        }
      }
    }
    for (byte[] bound : bounds) {
      assertThat(session.remove(MemorySegment.ofArray(bound))).isEqualTo(model.containsKey(bound));
    }
  }

  private static void assertFound(
      ByteSession session, boolean isThere, Map.@Nullable Entry<byte[], byte[]> expected) {
    assertThat(isThere).isEqualTo(expected != null);
    if (expected != null) {
      assertThat(ByteKeys.bytes(session.key())).isEqualTo(expected.getKey());
      assertThat(ByteKeys.bytes(session.value())).isEqualTo(expected.getValue());
    }
  }

  private static void checkScans(
      ByteSession session,
      NavigableMap<byte[], byte[]> expected,
      byte[] low,
      byte @Nullable [] end) {
    MemorySegment from = MemorySegment.ofArray(low);
    MemorySegment to = end == null ? null : MemorySegment.ofArray(end);
    List<byte[]> keys = new ArrayList<>();
    ByteVisitor visitor = (key, value) -> keys.add(ByteKeys.bytes(key));
    for (int limit : new int[] {1, 100}) {
      session.scan(from, to, limit, visitor);
      assertThat(keys).containsExactlyElementsOf(first(expected, limit));
      keys.clear();
      session.scanDown(to, from, limit, visitor);
      assertThat(keys).containsExactlyElementsOf(first(expected.descendingMap(), limit));
      keys.clear();
    }
  }

  private static List<byte[]> first(NavigableMap<byte[], byte[]> map, int limit) {
    return map.keySet().stream().limit(limit).toList();
  }
}
