package pando.door.resp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import pando.index.bytes.ByteIndex;

/**
 * A range of strings behind a common prefix, which are keys of the index. Bounds are those of
 * Redis: {@code [a} with it, {@code (a} without, {@code -} and {@code +} none.
 */
final class LexRange {
  final byte[] from;

  /** The first key behind the range, {@code null} if it has no end. */
  final byte @Nullable [] to;

  private LexRange(byte[] from, byte @Nullable [] to) {
    this.from = from;
    this.to = to;
  }

  /**
   * Returns the range between two arguments.
   *
   * @throws Refusal if one is no bound
   */
  static LexRange of(byte[] prefix, Request request, int least, int greatest) {
    return kind(request, least) == '+' || kind(request, greatest) == '-'
        ? new LexRange(prefix, prefix)
        : new LexRange(from(prefix, request, least), to(prefix, request, greatest));
  }

  private static byte[] from(byte[] prefix, Request request, int i) {
    return switch (kind(request, i)) {
      case '-' -> prefix;
      case '[' -> bound(prefix, request, i);
      default -> Stored.behind(bound(prefix, request, i));
    };
  }

  private static byte @Nullable [] to(byte[] prefix, Request request, int i) {
    return switch (kind(request, i)) {
      case '+' -> Stored.behindAll(prefix);
      case '[' -> Stored.behind(bound(prefix, request, i));
      default -> bound(prefix, request, i);
    };
  }

  /** Checks two arguments, before there is a prefix. */
  static void check(Request request, int least, int greatest) {
    kind(request, least);
    kind(request, greatest);
  }

  private static int kind(Request request, int i) {
    int length = request.length(i);
    int kind = length == 0 ? 0 : request.bytes()[request.start(i)];
    boolean isEnd = length == 1 && (kind == '-' || kind == '+');
    if (!isEnd && kind != '[' && kind != '(') {
      throw new Refusal("ERR min or max not valid string range item");
    }
    return kind;
  }

  private static byte[] bound(byte[] prefix, Request request, int i) {
    byte[] given = request.copy(i, prefix.length - 1); // its mark is where the prefix ends
    System.arraycopy(prefix, 0, given, 0, prefix.length);
    return Arrays.copyOf(given, Math.min(given.length, ByteIndex.KEY_BYTES_MAX));
  }
}
