package pando.client.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Requests of clients and responses of compute servers: the protocol PANDO-C1, behind its
 * {@linkplain pando.fabric.wire.Hello HELLO}. Little endian; all lengths of frames are multiples of
 * 8 and include the header, which is the same both ways.
 *
 * <pre>
 *  header
 *     0  length     u32   at most {@value #BYTES_MAX}; of BYTES and BYTE_SCAN {@value #LONG_BYTES_MAX},
 *                         of routes of byte strings {@value #ROUTES_BYTES_MAX}
 *     4  kind       u8    {@link #OPERATIONS}, {@link #SCAN}, {@link #ROUTES}, {@link #STATUS}, {@link #BYTES}, {@link #BYTE_SCAN};
 *                         {@link #GOODBYE} of a response
 *     5  flags      u8    {@link #DOWN} of a SCAN or BYTE_SCAN, {@link #ENDLESS} of a BYTE_SCAN, {@link #WITHHELD} of a response
 *                         to BYTES, {@link #PARTITIONED} and {@link #OF_STRINGS} of routes, {@link #REFUSED} of a GOODBYE; else 0
 *     6  count      u16   of operations, results, entries, routes or words that follow; 0 of BYTES and of a request for a page
 *     8  sequence   u64   of the client; comes back in the response, but in that to OPERATIONS, where it is 0
 *    16  party      u64   of a request, the client's number: random; of a response, the epoch of the routes
 *    24  checksum   u32   CRC32C of the frame, with 0 in this place
 *    28  0          u32
 *
 *  OPERATIONS: 1 to {@value #OPERATIONS_MAX} operations in no order; each has one result, in any order, in a response
 *  that has results of other requests, too
 *
 *  operation                                       result
 *     0  op         u8    see {@link Op}              0  outcome    u8    see {@link Outcome}
 *     1  0          u8                                1  0          u8
 *     2  id         u16   comes back                  2  id         u16   of the operation
 *     4  0          u32                               4  bytes      u32   of the text
 *     8  key        u64                               8  key        u64   see the outcomes
 *    16  value      u64                              16  value      u64   that the operation found
 *    24  expected   u64   of REPLACE alone           24  text, UTF-8, filled up with 0 to a multiple of 8
 *
 *  SCAN: at most {@value #PAGE_MAX} entries of a range    its response
 *    32  from       u64                              32  result, see {@link Outcome}: the key to go on from, if any
 *    40  to         u64   at or behind it                entries: key u64, value u64
 *    48  limit      u32   of entries, at least 1
 *    52  0          u32
 *
 *  ROUTES: nothing follows                         its response: routes in order of their ranges, none if the
 *                                                  server that answers serves all keys
 *                                                     0  low        u64   least key of the range; of byte strings, ascends
 *                                                     8  owner      u32   number of the compute server
 *                                                    12  bytes      u32   of its address; 0 if it has none now
 *                                                    16  address    HOST:PORT, ASCII, filled up with 0 to a multiple of 8
 *                                                  then, of byte strings
 *                                                     0  fence      u64   length
 *                                                     8  fence, with which the range begins, filled up with 0; the first is
 *                                                        empty, and they ascend
 *
 *  STATUS: nothing follows                         its response
 *                                                    32  result, its text the system's name; words, see {@link StatusWord}
 *
 *  BYTES: one operation on byte strings            its response
 *    32  op         u8    see {@link Op}             32  result: the lengths of key and value in place of both; a key only of a
 *    33  0          u24                                  neighbour, or to go on from. Of a failure, the value is as above, and
 *    36  key        u32   length                         nothing follows
 *    40  value      u32   length                         key, and value unless it is withheld, filled up with 0 together
 *    44  expected   u32   length
 *    48  key, value and expected value, filled up with 0 together; all of them have {@value #STRINGS_MAX} bytes at most
 *
 *  BYTE_SCAN: a page of byte strings               its response
 *    32  low        u32   length                     32  result: the length of the key to go on from in place of the key;
 *    36  high       u32   length; 0 if ENDLESS           downwards, the page goes on below it
 *    40  limit      u32   of entries, at least 1         that key, filled up with 0
 *    44  bytes      u32   of entries, at least 1;        entries: lengths of key and value u32, then both, filled up with 0 together
 *                         one entry may have more
 *    48  low, the least key, and high, the first behind all, filled up with 0 together
 *
 *  GOODBYE, sent by the server alone: nothing that it has not answered was done or will be; the connection ends
 *                                                    32  result, its text why
 * </pre>
 */
public final class ClientFrame {
  /** Most bytes of a frame. */
  public static final int BYTES_MAX = 64 << 10;

  /** Most bytes of keys and values of a request for byte strings. */
  public static final int STRINGS_MAX = 1 << 20;

  /** Most bytes of a key that is a byte string. */
  public static final int KEY_BYTES_MAX = 65_535;

  /** Most bytes of a value that is a byte string: two of them and a key are in a request. */
  public static final int VALUE_BYTES_MAX = 480 << 10;

  /** Most bytes of a frame of byte strings. */
  public static final int LONG_BYTES_MAX = STRINGS_MAX + 1_024;

  /** Most bytes of routes of byte strings: 64 of the longest. */
  public static final int ROUTES_BYTES_MAX = (4 << 20) + (64 << 10);

  /** Most bytes of the entries of a page of byte strings that has more than one. */
  public static final int PAGE_BYTES_MAX = 256 << 10;

  /** Most operations of a frame. */
  public static final int OPERATIONS_MAX = 1_024;

  /** Most entries of a page. */
  public static final int PAGE_MAX = 1_024;

  /** Most bytes of a text; longer ones are cut. */
  public static final int TEXT_MAX = 512;

  /** Bytes of a header. */
  public static final int HEADER_BYTES = 32;

  /** Bytes of an operation; {@link Op#REPLACE} has 8 more. */
  public static final int OPERATION_BYTES = 24;

  /** Bytes of a result without its text. */
  public static final int RESULT_BYTES = 24;

  /** Bytes of a SCAN. */
  public static final int SCAN_BYTES = HEADER_BYTES + 24;

  /** Bytes of an entry of a page. */
  public static final int ENTRY_BYTES = 16;

  /** Bytes of a route without its address and fence. */
  public static final int ROUTE_BYTES = 16;

  /** Kind: operations on keys. */
  public static final int OPERATIONS = 1;

  /** Kind: entries of a range. */
  public static final int SCAN = 2;

  /** Kind: who serves which keys. */
  public static final int ROUTES = 3;

  /** Kind: how the compute server is. */
  public static final int STATUS = 4;

  /** Kind of a response to nothing: the connection ends. */
  public static final int GOODBYE = 5;

  /** Kind: an operation on byte strings. */
  public static final int BYTES = 6;

  /** Kind: entries of a range of byte strings. */
  public static final int BYTE_SCAN = 7;

  /** Bytes of a request for byte strings in front of the first of them. */
  public static final int STRINGS_AT = HEADER_BYTES + 16;

  /** Flag of a SCAN or BYTE_SCAN: in descending order. */
  public static final int DOWN = 1;

  /** Flag of a BYTE_SCAN: the range has no end. */
  public static final int ENDLESS = 2;

  /** Flag of a response to BYTES: the value is longer than clients take, and is not there. */
  public static final int WITHHELD = 1;

  /** Flag of routes: each key has one owner; without it, each server serves all keys. */
  public static final int PARTITIONED = 1;

  /** Flag of routes that are {@link #PARTITIONED}: they are of byte strings, and have fences. */
  public static final int OF_STRINGS = 2;

  /** Flag of a GOODBYE: a request made no sense. */
  public static final int REFUSED = 1;

  static final int KIND = 4;
  static final int FLAGS = 5;
  static final int COUNT = 6;
  static final int SEQUENCE = 8;
  static final int PARTY = 16;
  static final int CHECKSUM = 24;
  static final int ZERO = 28;

  private ClientFrame() {}

  /** Returns the kind of a frame. */
  public static int kind(ByteBuffer bytes, int start) {
    return bytes.get(start + KIND) & 0xff;
  }

  /** Returns whether a kind is of byte strings, whose frames may be long. */
  public static boolean isOfStrings(int kind) {
    return kind == BYTES || kind == BYTE_SCAN;
  }

  /** Returns the greatest length of a request whose header begins at a place. */
  static int requestBytesMax(ByteBuffer bytes, int start) {
    return isOfStrings(kind(bytes, start)) ? LONG_BYTES_MAX : BYTES_MAX;
  }

  /** Returns the greatest length of a response whose header begins at a place. */
  static int responseBytesMax(ByteBuffer bytes, int start) {
    return kind(bytes, start) == ROUTES ? ROUTES_BYTES_MAX : requestBytesMax(bytes, start);
  }

  /** Returns the flags of a frame. */
  public static int flags(ByteBuffer bytes, int start) {
    return bytes.get(start + FLAGS) & 0xff;
  }

  /** Returns how many parts a frame has. */
  public static int count(ByteBuffer bytes, int start) {
    return bytes.getShort(start + COUNT) & 0xffff;
  }

  /** Returns the sequence of a frame. */
  public static long sequence(ByteBuffer bytes, int start) {
    return bytes.getLong(start + SEQUENCE);
  }

  /** Returns the number of the client, or the epoch of the routes. */
  public static long party(ByteBuffer bytes, int start) {
    return bytes.getLong(start + PARTY);
  }

  /** Returns the bytes that a text takes in a frame. */
  public static int padded(int bytes) {
    return (bytes + 7) & ~7;
  }

  /** Writes the header of a frame all of whose other bytes are there, and its checksum. */
  static void finish(
      CRC32C crc,
      ByteBuffer bytes,
      int start,
      int length,
      int kind,
      int flags,
      int count,
      long sequence,
      long party) {
    bytes.putInt(start, length);
    bytes.put(start + KIND, (byte) kind);
    bytes.put(start + FLAGS, (byte) flags);
    bytes.putShort(start + COUNT, (short) count);
    bytes.putLong(start + SEQUENCE, sequence);
    bytes.putLong(start + PARTY, party);
    bytes.putLong(start + CHECKSUM, 0);
    bytes.putInt(start + CHECKSUM, checksum(crc, bytes, start, length));
  }

  /** Returns the checksum of a frame whose place for it has 0. */
  static int checksum(CRC32C crc, ByteBuffer bytes, int start, int length) {
    int position = bytes.position();
    int limit = bytes.limit();
    crc.reset();
    crc.update(bytes.limit(start + length).position(start));
    bytes.limit(limit).position(position);
    return (int) crc.getValue();
  }
}
