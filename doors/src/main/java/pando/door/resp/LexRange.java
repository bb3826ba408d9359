package pando.door.resp;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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
  static LexRange of(byte[] prefix, int bytesMax, RespRequest request, int least, int greatest) {
    boolean isEmpty = kind(request, least) == '+' || kind(request, greatest) == '-';
    byte[] from =
        kind(request, least) == '-' ? prefix : bound(prefix, bytesMax, request, least, '(');
    byte[] to =
        kind(request, greatest) == '+'
            ? Stored.behindAll(prefix)
            : bound(prefix, bytesMax, request, greatest, '[');
    return isEmpty || from == null ? new LexRange(prefix, prefix) : new LexRange(from, to);
  }

  /** Checks two arguments, before there is a prefix. */
  static void check(RespRequest request, int least, int greatest) {
    kind(request, least);
    kind(request, greatest);
  }

  private static int kind(RespRequest request, int i) {
    int length = request.length(i);
    int kind = length == 0 ? 0 : request.bytes()[request.start(i)];
    boolean isEnd = length == 1 && (kind == '-' || kind == '+');
    if (!isEnd && kind != '[' && kind != '(') {
      throw new Refusal("ERR min or max not valid string range item");
    }
    return kind;
  }

  /**
   * Returns the least key that is at a bound or above; above, if the bound is of a kind.
   *
   * @return {@code null} if there is no such key
   */
  private static byte @Nullable [] bound(
      byte[] prefix, int bytesMax, RespRequest request, int i, int above) {
    int given = prefix.length + request.length(i) - 1; // without the mark
    byte[] bound = Arrays.copyOf(prefix, Math.min(given, bytesMax));
    System.arraycopy(
        request.bytes(), request.start(i) + 1, bound, prefix.length, bound.length - prefix.length);
    boolean isCut = given > bytesMax; // and so no key is at the bound, nor between the two
    return isCut || kind(request, i) == above ? Stored.behind(bound, bytesMax) : bound;
  }
}
