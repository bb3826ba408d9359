package pando.fabric.wire;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;
import pando.fabric.VerbList.Kind;

/**
 * Requests and responses. Little endian; all lengths of frames are multiples of 8 and include the
 * header. Each request has one response, in the order of the requests; several may be under way.
 *
 * <pre>
 *  request
 *     0  length     u32
 *     4  kind       u8    {@link #LIST}, {@link #CALL}, {@link #FENCE}; 3, 4 and 6 are kept for PING, GOODBYE, STATUS
 *     5  flags      u8    0
 *     6  verbs      u16   1 to {@value #VERBS_MAX}
 *     8  sequence   u64   comes back in the response
 *    16  epoch      u64   that of the HELLO
 *    24  worker     u32   0: kept
 *    28  checksum   u32   CRC32C of the header before it and of the verbs
 *    32  verbs, each {@value #VERB_BYTES} bytes and its operands
 *        payloads: the bytes of each WRITE, or of the CALL, filled up with 0 to a multiple of 8
 *
 *  verb
 *     0  op         u8    see {@link #op}; of a CALL, the function; of a FENCE, 0
 *     1  0          u8, u16
 *     4  bytes      u32   that it moves or acts on; of a CALL, of its request; of a FENCE, number of the compute server
 *     8  address    u64   of a CALL, 0; of a FENCE, the least epoch that is not refused
 *    16  operands   as many bytes as the kind of verb has, in the order of {@link
 *                   pando.fabric.VerbList}
 *
 *  response
 *     0  length     u32
 *     4  status     u8    one of those below
 *     5  0          u8
 *     6  detail     u16   number of the verb, or bytes of the message; see the statuses
 *     8  sequence   u64   that of the request
 *    16  results: the bytes of each READ, filled up to a multiple of 8, the value that each atomic
 *        found, 8 or 16 bytes; or the message
 * </pre>
 */
public final class Frame {
  /** Most bytes of a frame. */
  public static final int BYTES_MAX = 256 << 10;

  /** Most verbs of a request. */
  public static final int VERBS_MAX = 256;

  /** Most bytes of one READ or WRITE. */
  public static final int VERB_BYTES_MAX = 128 << 10;

  /** Kind of a request: verbs that take effect in order, all or none. */
  public static final int LIST = 1;

  /** Kind of a request: a CALL. */
  public static final int CALL = 2;

  /**
   * Kind of a request, of admins alone: refuse epochs of a compute server. It is answered when no
   * request of those epochs is served any more.
   */
  public static final int FENCE = 5;

  /** Status: done. The detail is 0; of a CALL, the bytes of its response. */
  public static final int DONE = 0;

  /**
   * Status: nothing was done, as a verb names bytes that are not there. Its number is the detail.
   */
  public static final int OUTSIDE = 1;

  /** Status: nothing was done, as an atomic is misaligned. Its number is the detail. */
  public static final int MISALIGNED = 2;

  /** Status: the CALL failed; the message says why, in UTF-8. The detail is its bytes. */
  public static final int CALL_FAILED = 3;

  /**
   * Status: no processor was free to take the CALL for too long; of a FENCE, what is served does
   * not end, and the fence must be repeated.
   */
  public static final int BUSY = 4;

  /**
   * Status: the frame makes no sense; the message says why, in UTF-8, and the connection ends. The
   * detail is its bytes.
   */
  public static final int REFUSED = 5;

  /** Status: nothing was done, as the compute server's epoch is refused. */
  public static final int FENCED = 6;

  /** Bytes of a request's header. */
  public static final int REQUEST_BYTES = 32;

  /** Bytes of a response's header. */
  public static final int RESPONSE_BYTES = 16;

  /** Bytes of a verb without its operands. */
  public static final int VERB_BYTES = 16;

  static final int LENGTH = 0;
  static final int KIND = 4;
  static final int FLAGS = 5;
  static final int VERBS = 6;
  static final int SEQUENCE = 8;
  static final int EPOCH = 16;
  static final int WORKER = 24;
  static final int CHECKSUM = 28;

  static final int STATUS = 4;
  static final int DETAIL = 6;

  static final int VERB_LENGTH = 4;
  static final int VERB_ADDRESS = 8;

  /** The kinds of verbs by their numbers on the wire. */
  private static final List<Kind> KINDS =
      List.of(
          Kind.READ,
          Kind.WRITE,
          Kind.CAS,
          Kind.FAA,
          Kind.MASKED_CAS,
          Kind.MASKED_FAA,
          Kind.MASKED_CAS_16);

  static {
    assert REQUEST_BYTES + VERB_BYTES + VERB_BYTES_MAX <= BYTES_MAX;
    assert RESPONSE_BYTES + VERB_BYTES_MAX <= BYTES_MAX;
  }

  private Frame() {}

  /** Returns the number of a kind of verb on the wire. */
  public static int op(Kind kind) {
    return switch (kind) {
      case READ -> 0;
      case WRITE -> 1;
      case CAS -> 2;
      case FAA -> 3;
      case MASKED_CAS -> 4;
      case MASKED_FAA -> 5;
      case MASKED_CAS_16 -> 6;
    };
  }

  /** Returns the kind of a verb by its number, which must be one of {@link #op}. */
  public static Kind kind(int op) {
    return KINDS.get(op);
  }

  static int kinds() {
    return KINDS.size();
  }

  /** Returns the bytes that a payload or a result takes in a frame. */
  public static int padded(int bytes) {
    return (bytes + 7) & ~7;
  }

  /** Stores 0 where a payload or a result will end, so that what fills it up is 0. */
  public static void clearPad(ByteBuffer frame, int offset, int bytes) {
    if ((bytes & 7) != 0) {
      frame.putLong(offset + padded(bytes) - Long.BYTES, 0);
    }
  }

  /**
   * Returns the checksum of a request.
   *
   * @param verbsEnd offset of the first byte behind the verbs
   */
  static int checksum(CRC32C crc, ByteBuffer frame, int verbsEnd) {
    int position = frame.position();
    int limit = frame.limit();
    crc.reset();
    crc.update(frame.position(0).limit(CHECKSUM));
    crc.update(frame.limit(verbsEnd).position(REQUEST_BYTES));
    frame.limit(limit).position(position);
    return (int) crc.getValue();
  }
}
