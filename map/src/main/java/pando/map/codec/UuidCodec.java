package pando.map.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Comparator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The two halves of a UUID, with their sign bits flipped or not. */
final class UuidCodec implements KeyCodec<UUID> {
  static final Comparator<UUID> UNSIGNED =
      (one, other) -> {
        int high =
            Long.compareUnsigned(one.getMostSignificantBits(), other.getMostSignificantBits());
        return high != 0
            ? high
            : Long.compareUnsigned(one.getLeastSignificantBits(), other.getLeastSignificantBits());
      };

  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

  private final String name;
  private final long flipped;
  private final @Nullable Comparator<UUID> order;

  UuidCodec(String name, long flipped, @Nullable Comparator<UUID> order) {
    this.name = name;
    this.flipped = flipped;
    this.order = order;
  }

  @Override
  public int fixedBytes() {
    return 2 * Long.BYTES;
  }

  @Override
  public int maxBytes(UUID uuid) {
    return fixedBytes();
  }

  @Override
  public int encode(UUID uuid, MemorySegment to, long offset) {
    to.set(LONG, offset, uuid.getMostSignificantBits() ^ flipped);
    to.set(LONG, offset + Long.BYTES, uuid.getLeastSignificantBits() ^ flipped);
    return fixedBytes();
  }

  @Override
  public UUID decode(MemorySegment from, long offset, int bytes) {
    Encodings.checkLength(this, bytes);
    return new UUID(
        from.get(LONG, offset) ^ flipped, from.get(LONG, offset + Long.BYTES) ^ flipped);
  }

  @Override
  public @Nullable Comparator<? super UUID> order() {
    return order;
  }

  @Override
  public String toString() {
    return name;
  }
}
