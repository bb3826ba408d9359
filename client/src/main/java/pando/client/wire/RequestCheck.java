package pando.client.wire;

import pando.fabric.wire.FrameException;
import pando.index.bytes.ByteIndex;

/** Checks requests whole, before anything of them is done. */
public final class RequestCheck {
  /** Bits of the first word of an operation that must be 0: all but the number and the id. */
  private static final long ZERO_BITS = 0xffff_ffff_0000_ff00L;

  /** Bits of the first word of an operation on byte strings that must be 0. */
  private static final long ZERO_BITS_OF_BYTES = 0xffff_ff00L;

  private RequestCheck() {}

  /**
   * Checks the open frame.
   *
   * @throws FrameException if no client sends such a one
   */
  public static void check(FrameReader request) throws FrameException {
    switch (request.kind()) {
      case ClientFrame.OPERATIONS -> checkOperations(request);
      case ClientFrame.SCAN -> checkScan(request);
      case ClientFrame.ROUTES, ClientFrame.STATUS ->
          checkHeader(request, ClientFrame.HEADER_BYTES, 0);
      case ClientFrame.BYTES -> checkBytes(request);
      case ClientFrame.BYTE_SCAN -> checkByteScan(request);
      default -> throw refused("unknown kind", request);
    }
  }

  private static void checkOperations(FrameReader request) throws FrameException {
    int count = request.count();
    if (count < 1 || count > ClientFrame.OPERATIONS_MAX || request.flags() != 0) {
      throw refused("impossible number of operations, or flags", request);
    }
    for (int i = 0; i < count; i++) {
      if (request.left() < ClientFrame.OPERATION_BYTES) {
        throw refused("operations that are not there", request);
      }
      long word = request.word(0);
      int op = (int) word & 0xff;
      if (!Op.isOfWords(op) || (word & ZERO_BITS) != 0 || request.left() < Op.bytes(op)) {
        throw refused("no operation is like this: word=0x" + Long.toHexString(word), request);
      }
      request.skip(Op.bytes(op));
    }
    if (request.left() != 0) {
      throw refused("bytes behind the operations", request);
    }
    request.place(ClientFrame.HEADER_BYTES);
  }

  private static void checkScan(FrameReader request) throws FrameException {
    checkHeader(request, ClientFrame.SCAN_BYTES, ClientFrame.DOWN);
    long from = request.word(0);
    long to = request.word(8);
    long limit = request.word(16);
    boolean down = request.flags() == ClientFrame.DOWN;
    if (limit < 1 || limit > ClientFrame.PAGE_MAX || (down ? from < to : from > to)) {
      throw refused(
          "no page is like this: from=" + from + ", to=" + to + ", limit=" + limit, request);
    }
  }

  private static void checkBytes(FrameReader request) throws FrameException {
    checkStrings(request, 0);
    long word = request.word(0);
    int op = (int) word & 0xff;
    long key = word >>> Integer.SIZE;
    long value = request.word(8) & 0xffff_ffffL;
    long expected = request.word(8) >>> Integer.SIZE;
    boolean isLegal =
        Op.isOfStrings(op)
            && (word & ZERO_BITS_OF_BYTES) == 0
            && key <= (Op.hasKey(op) ? ClientFrame.KEY_BYTES_MAX : 0)
            && value <= (Op.hasValue(op) ? ClientFrame.VALUE_BYTES_MAX : 0)
            && expected <= (Op.hasExpected(op) ? ClientFrame.VALUE_BYTES_MAX : 0);
    if (!isLegal || request.length() != lengthWith(key + value + expected)) {
      throw refused(
          "no operation is like this: op=%d, keyBytes=%d, valueBytes=%d, expectedBytes=%d"
              .formatted(op, key, value, expected),
          request);
    }
  }

  private static void checkByteScan(FrameReader request) throws FrameException {
    checkStrings(request, ClientFrame.DOWN | ClientFrame.ENDLESS);
    long low = request.word(0) & 0xffff_ffffL;
    long high = request.word(0) >>> Integer.SIZE;
    long limit = request.word(8) & 0xffff_ffffL;
    long bytes = request.word(8) >>> Integer.SIZE;
    boolean isEndless = (request.flags() & ClientFrame.ENDLESS) != 0;
    boolean isLegal =
        low <= ClientFrame.KEY_BYTES_MAX
            && high <= (isEndless ? 0 : ClientFrame.KEY_BYTES_MAX)
            && limit >= 1
            && limit <= ClientFrame.PAGE_MAX
            && bytes >= 1
            && bytes <= ClientFrame.PAGE_BYTES_MAX;
    if (!isLegal || request.length() != lengthWith(low + high)) {
      throw refused(
          "no page is like this: lowBytes=%d, highBytes=%d, limit=%d, bytes=%d"
              .formatted(low, high, limit, bytes),
          request);
    }
    if (!isEndless && isReversed(request, (int) low, (int) high)) {
      throw refused("no page is like this: its range is reversed", request);
    }
  }

  private static boolean isReversed(FrameReader request, int low, int high) {
    request.place(ClientFrame.STRINGS_AT);
    boolean isReversed = ByteIndex.compare(request.bytes(low), request.bytes(high)) > 0;
    request.place(ClientFrame.HEADER_BYTES);
    return isReversed;
  }

  private static void checkStrings(FrameReader request, int flags) throws FrameException {
    boolean isLegal = request.count() == 0 && (request.flags() & ~flags) == 0;
    if (!isLegal || request.length() < ClientFrame.STRINGS_AT) {
      throw refused("impossible length, count or flags", request);
    }
  }

  private static long lengthWith(long strings) {
    return ClientFrame.STRINGS_AT + (strings + 7 & -8);
  }

  private static void checkHeader(FrameReader request, int length, int flagsMax)
      throws FrameException {
    if (request.length() != length || request.count() != 0 || request.flags() > flagsMax) {
      throw refused("impossible length, count or flags", request);
    }
  }

  private static FrameException refused(String what, FrameReader request) {
    return new FrameException(
        "%s: kind=%d, length=%d, count=%d, flags=%d"
            .formatted(what, request.kind(), request.length(), request.count(), request.flags()));
  }
}
