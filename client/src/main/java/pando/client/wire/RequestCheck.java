package pando.client.wire;

import pando.fabric.wire.FrameException;

/** Checks requests whole, before anything of them is done. */
public final class RequestCheck {
  /** Bits of the first word of an operation that must be 0: all but the number and the id. */
  private static final long ZERO_BITS = 0xffff_ffff_0000_ff00L;

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
      if (!Op.exists(op) || (word & ZERO_BITS) != 0 || request.left() < Op.bytes(op)) {
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
