package pando.map;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A kind of map that the same tests run over.
 *
 * @param system {@code null} for an index of byte strings
 * @param blobs whether values are longer than words
 */
record MapUnderTest(@Nullable SystemUnderTest system, boolean blobs) {
  static final MapUnderTest BYTES = new MapUnderTest(null, true);

  /** Maps of words over all systems. */
  static final List<MapUnderTest> WORDS =
      SystemUnderTest.ALL.stream().map(system -> new MapUnderTest(system, false)).toList();

  /** Maps with long values over all systems. */
  static final List<MapUnderTest> BLOBS =
      SystemUnderTest.ALL.stream().map(system -> new MapUnderTest(system, true)).toList();

  /** Maps with long values: over all systems in a campaign, else over three. */
  static final List<MapUnderTest> SOME_BLOBS = BLOBS.subList(0, Seeds.count(3, BLOBS.size()));

  /** All kinds that a test takes. */
  static final List<MapUnderTest> ALL = all();

  private static List<MapUnderTest> all() {
    List<MapUnderTest> all = new ArrayList<>(WORDS);
    all.addAll(SOME_BLOBS);
    all.add(BYTES);
    return all;
  }

  static MapUnderTest of(SystemUnderTest system) {
    return new MapUnderTest(system, false);
  }

  /** Opens an empty map from numbers to numbers. */
  OpenMap<Long, Long> open() {
    KeyCodec<Long> keys = system == null ? new LongStrings() : KeyCodec.longs();
    return OpenMap.of(system, keys, blobs ? new LongBlobs() : ValueCodec.longs());
  }

  @Override
  public String toString() {
    return (system == null ? "bytes" : system.toString()) + (blobs ? " with blobs" : "");
  }
}
