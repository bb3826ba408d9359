package pando.cluster;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import pando.client.Routes;
import pando.index.Partitioning;
import pando.index.bytes.ByteIndex;

/** {@link Routes} as the coordinator keeps them: a copy of the pool's table, which may be old. */
final class RoutesEntry {
  static final char KIND = 'r';

  /** Most bytes of all fences together, so that an entry has room for them. */
  static final int FENCE_BYTES_MAX = 256 << 10;

  private static final int WORDS = 0;
  private static final int STRINGS = 1;

  private RoutesEntry() {}

  /** Returns the routes of a partition table; compute servers that are gone have no address. */
  static Routes of(Partitioning table, List<Member> members) {
    return Routes.of(
        table,
        owner ->
            members.stream()
                .filter(member -> member.number() == owner)
                .map(Member::address)
                .findFirst());
  }

  /**
   * Returns why a change is refused: the routes would be too long for an entry after it. Returns
   * nothing if they would not.
   */
  static Optional<String> refusal(Partitioning table, Change change) {
    if (!table.hasFences()) {
      return Optional.empty();
    }
    long bytes = 0;
    for (int range = 0; range < table.servers(); range++) {
      bytes += table.fenceOfRange(range).byteSize();
    }
    long after =
        switch (change.kind()) {
          case MOVE -> {
            int moved = table.rangeOfServer(change.server());
            yield bytes - table.fenceOfRange(moved).byteSize() + change.key().string().byteSize();
          }
          case SPLIT -> bytes + change.key().string().byteSize();
          // Its key is not known before.
          case ADD -> bytes + ByteIndex.KEY_BYTES_MAX;
          case REMOVE, FENCE -> 0;
        };
    return after <= FENCE_BYTES_MAX
        ? Optional.empty()
        : Optional.of(
            "the keys with which ranges begin would be too long together, so begin ranges with"
                + " shorter ones: ranges=%s, keyBytes=%s, afterwards=%s, maximum=%s"
                    .formatted(table.servers(), bytes, after, FENCE_BYTES_MAX));
  }

  static byte[] encode(Routes routes) {
    EntryWriter writer =
        new EntryWriter(KIND)
            .word(routes.epoch())
            .number(routes.isOfStrings() ? STRINGS : WORDS)
            .number(routes.routes().size());
    for (Routes.Route route : routes.routes()) {
      writer.word(route.low()).number(route.owner()).text(route.address());
      if (routes.isOfStrings()) {
        writer.string(route.fence());
      }
    }
    return writer.bytes();
  }

  static Routes decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader -> {
          long epoch = reader.word();
          boolean isOfStrings = reader.number(WORDS, STRINGS) == STRINGS;
          List<Routes.Route> routes = new ArrayList<>();
          for (int left = reader.number(1, Routes.ROUTES_MAX); left > 0; left--) {
            routes.add(route(reader, isOfStrings));
          }
          return new Routes(epoch, true, isOfStrings, routes);
        });
  }

  private static Routes.Route route(EntryReader reader, boolean isOfStrings) {
    long low = reader.word();
    int owner = reader.number(0, Member.NUMBER_MAX);
    String address = reader.text();
    if (!isOfStrings) {
      return new Routes.Route(low, owner, address);
    }
    MemorySegment fence = reader.string(reader.number(0, ByteIndex.KEY_BYTES_MAX));
    return new Routes.Route(low, fence, owner, address);
  }
}
