package pando.map;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * A kind of map that the same tests run over.
 *
 * @param system {@code null} for an index of byte strings
 * @param blobs whether values are longer than words
 * @param byClient whether a client reaches the index, whose boundaries move
 */
record MapUnderTest(@Nullable SystemUnderTest system, boolean blobs, boolean byClient) {
  /** Over a client one of so many operations is done. */
  private static final int CLIENT_SHARE = 10;

  static final MapUnderTest BYTES = new MapUnderTest(null, true);

  /** A map over a client. */
  static final MapUnderTest CLIENT = new MapUnderTest(SystemUnderTest.DEX, false, true);

  /** A map of byte strings over a client. */
  static final MapUnderTest BYTES_BY_CLIENT = new MapUnderTest(null, true, true);

  /** Maps of words; over all systems in a campaign. */
  static final List<MapUnderTest> WORDS =
      SystemUnderTest.PRODUCTS.stream().map(system -> new MapUnderTest(system, false)).toList();

  /** Maps with long values; over all systems in a campaign. */
  static final List<MapUnderTest> BLOBS =
      SystemUnderTest.PRODUCTS.stream().map(system -> new MapUnderTest(system, true)).toList();

  /** All kinds whose index is in this process. */
  static final List<MapUnderTest> EMBEDDED =
      Stream.of(WORDS, BLOBS, List.of(BYTES)).flatMap(List::stream).toList();

  /** All kinds that a test takes. */
  static final List<MapUnderTest> ALL =
      Stream.concat(EMBEDDED.stream(), Stream.of(CLIENT, BYTES_BY_CLIENT)).toList();

  private MapUnderTest(@Nullable SystemUnderTest system, boolean blobs) {
    this(system, blobs, false);
  }

  static MapUnderTest of(SystemUnderTest system) {
    return new MapUnderTest(system, false);
  }

  /** Opens an empty map from numbers to numbers. */
  OpenMap<Long, Long> open() {
    if (byClient) {
      return system == null
          ? OpenMap.ofByteClient(new LongStrings(), new LongBlobs())
          : OpenMap.ofClient(KeyCodec.longs(), ValueCodec.longs());
    }
    KeyCodec<Long> keys = system == null ? new LongStrings() : KeyCodec.longs();
    return OpenMap.of(system, keys, blobs ? new LongBlobs() : ValueCodec.longs());
  }

  /** Returns how many of the operations of a test are done: over a client, each takes longer. */
  int count(int operations) {
    return byClient ? operations / CLIENT_SHARE : operations;
  }

  @Override
  public String toString() {
    return byClient
        ? (system == null ? "bytes by a client" : "client")
        : (system == null ? "bytes" : system.toString()) + (blobs ? " with blobs" : "");
  }
}
