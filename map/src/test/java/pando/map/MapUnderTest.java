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
 * @param named whether the map has a name, and others beside it
 */
record MapUnderTest(
    @Nullable SystemUnderTest system, boolean blobs, boolean byClient, boolean named) {
  /** Over a client one of so many operations is done. */
  private static final int CLIENT_SHARE = 10;

  static final MapUnderTest BYTES = new MapUnderTest(null, true);

  /** A map over a client. */
  static final MapUnderTest CLIENT = new MapUnderTest(SystemUnderTest.DEX, false, true, false);

  /** A map of byte strings over a client. */
  static final MapUnderTest BYTES_BY_CLIENT = new MapUnderTest(null, true, true, false);

  /** A map with a name. */
  static final MapUnderTest NAMED = new MapUnderTest(null, true, false, true);

  /** A map with a name over a client. */
  static final MapUnderTest NAMED_BY_CLIENT = new MapUnderTest(null, true, true, true);

  /** Maps of words; over all systems in a campaign. */
  static final List<MapUnderTest> WORDS =
      SystemUnderTest.PRODUCTS.stream().map(system -> new MapUnderTest(system, false)).toList();

  /** Maps with long values; over all systems in a campaign. */
  static final List<MapUnderTest> BLOBS =
      SystemUnderTest.PRODUCTS.stream().map(system -> new MapUnderTest(system, true)).toList();

  /** All kinds whose index is in this process. */
  static final List<MapUnderTest> EMBEDDED =
      Stream.of(WORDS, BLOBS, List.of(BYTES, NAMED)).flatMap(List::stream).toList();

  /** All kinds that a test takes. */
  static final List<MapUnderTest> ALL =
      Stream.concat(EMBEDDED.stream(), Stream.of(CLIENT, BYTES_BY_CLIENT, NAMED_BY_CLIENT))
          .toList();

  private MapUnderTest(@Nullable SystemUnderTest system, boolean blobs) {
    this(system, blobs, false, false);
  }

  static MapUnderTest of(SystemUnderTest system) {
    return new MapUnderTest(system, false);
  }

  /** Opens an empty map from numbers to numbers. */
  OpenMap<Long, Long> open() {
    if (named) {
      return byClient
          ? OpenMap.ofNamedByClient(new LongStrings(), new LongBlobs())
          : OpenMap.ofNamed(new LongStrings(), new LongBlobs());
    }
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
    if (named) {
      return byClient ? "named by a client" : "named";
    }
    return byClient
        ? (system == null ? "bytes by a client" : "client")
        : (system == null ? "bytes" : system.toString()) + (blobs ? " with blobs" : "");
  }
}
