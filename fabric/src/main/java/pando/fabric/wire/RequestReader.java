package pando.fabric.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import pando.fabric.ComputeServer;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.layout.Regions;

/**
 * Checks a request whole before any of it takes effect, then gives its verbs one by one. What it
 * gives after a check is safe to use. Allocates nothing. Not thread-safe.
 */
public final class RequestReader {
  private final int server;
  private final long dramBytes;
  private final CRC32C crc = new CRC32C();
  private ByteBuffer frame;

  private int verbsEnd;
  private long payloadBytes;
  private long responseBytes;
  private int status;
  private int badVerb;

  private int verb;
  private int payload;

  /**
   * Creates a reader.
   *
   * @param server number of the memory server
   * @param dramBytes its bytes of DRAM
   */
  public RequestReader(int server, long dramBytes) {
    this.server = server;
    this.dramBytes = dramBytes;
    this.frame = ByteBuffer.allocate(0);
  }

  /**
   * Checks a whole frame, and goes to its first verb.
   *
   * @param buffer has the frame, which must not change while its verbs are taken
   * @param client that sent it
   * @return {@link Frame#DONE} if it may be served, else the status to answer; {@link #badVerb} is
   *     the number of the verb
   * @throws FrameException if it makes no sense
   */
  public int check(FrameBuffer buffer, Hello.Request client) throws FrameException {
    frame = buffer.bytes();
    int length = buffer.length();
    int count = frame.getShort(Frame.VERBS) & 0xffff;
    checkHeader(count, client);
    verbsEnd = Frame.REQUEST_BYTES;
    payloadBytes = 0;
    responseBytes = Frame.RESPONSE_BYTES;
    status = Frame.DONE;
    badVerb = 0;
    for (int i = 0; i < count; i++) {
      require(verbsEnd + Frame.VERB_BYTES <= length, "verbs beyond the frame", i);
      require((frame.getInt(verbsEnd) & 0xffff_ff00) == 0, "bytes of a verb that must be 0", i);
      verbsEnd +=
          switch (kindOfRequest()) {
            case Frame.CALL -> checkCall();
            case Frame.FENCE -> checkFence();
            default -> checkVerb(i);
          };
    }
    require(verbsEnd + payloadBytes == length, "verbs and payloads are not the frame", length);
    require(responseBytes <= Frame.BYTES_MAX, "response too long", responseBytes);
    int checksum = frame.getInt(Frame.CHECKSUM);
    require(Frame.checksum(crc, frame, verbsEnd) == checksum, "wrong checksum", checksum);
    verb = Frame.REQUEST_BYTES;
    payload = verbsEnd;
    return status;
  }

  private void checkHeader(int count, Hello.Request client) throws FrameException {
    int kind = kindOfRequest();
    boolean isVerbs = kind == Frame.LIST || kind == Frame.CALL;
    require(isVerbs || kind == Frame.FENCE, "unknown kind of frame", kind);
    require(client.role() == (isVerbs ? Role.COMPUTE : Role.ADMIN), "not for this role", kind);
    require(frame.get(Frame.FLAGS) == 0, "unknown flags", frame.get(Frame.FLAGS));
    long epoch = frame.getLong(Frame.EPOCH);
    require(epoch == client.epoch(), "another epoch than that of the HELLO", epoch);
    require(frame.getInt(Frame.WORKER) == 0, "no workers yet", frame.getInt(Frame.WORKER));
    int most = kind == Frame.LIST ? Frame.VERBS_MAX : 1;
    require(count >= 1 && count <= most, "impossible number of verbs", count);
  }

  /** Checks the only verb of a CALL; returns its bytes in the frame. */
  private int checkCall() throws FrameException {
    int bytes = frame.getInt(verbsEnd + Frame.VERB_LENGTH);
    require(bytes >= 0 && bytes <= Worker.CALL_BYTES_MAX, "impossible CALL", bytes);
    require(frame.getLong(verbsEnd + Frame.VERB_ADDRESS) == 0, "a CALL with an address", bytes);
    payloadBytes = Frame.padded(bytes);
    responseBytes += Worker.CALL_BYTES_MAX;
    return Frame.VERB_BYTES;
  }

  /** Checks the only verb of a FENCE; returns its bytes in the frame. */
  private int checkFence() throws FrameException {
    int number = frame.getInt(verbsEnd + Frame.VERB_LENGTH);
    long leastEpoch = frame.getLong(verbsEnd + Frame.VERB_ADDRESS);
    require(frame.get(verbsEnd) == 0, "unknown fence", frame.get(verbsEnd));
    require(ComputeServer.isName(number, 1), "no compute server has this number", number);
    require(ComputeServer.isName(number, leastEpoch), "no such epoch", leastEpoch);
    return Frame.VERB_BYTES;
  }

  /** Checks a verb of a list; returns its bytes in the frame. */
  private int checkVerb(int index) throws FrameException {
    int op = frame.get(verbsEnd);
    require(op >= 0 && op < Frame.kinds(), "unknown verb", op);
    Kind kind = Frame.kind(op);
    int bytes = frame.getInt(verbsEnd + Frame.VERB_LENGTH);
    long address = frame.getLong(verbsEnd + Frame.VERB_ADDRESS);
    if (kind.isAtomic()) {
      require(bytes == kind.resultBytes(), "impossible width of an atomic", bytes);
      responseBytes += bytes;
    } else {
      require(bytes >= 0 && bytes <= Frame.VERB_BYTES_MAX, "verb too long", bytes);
      if (kind == Kind.READ) {
        responseBytes += Frame.padded(bytes);
      } else {
        payloadBytes += Frame.padded(bytes);
      }
    }
    if (status == Frame.DONE) {
      status = statusOf(kind, address, bytes);
      badVerb = index;
    }
    return Frame.VERB_BYTES + kind.operandBytes();
  }

  private int statusOf(Kind kind, long address, int bytes) {
    if (Regions.server(address) != server || !Regions.contains(dramBytes, address, bytes)) {
      return Frame.OUTSIDE;
    }
    boolean misaligned = kind.isAtomic() && (address & (bytes - 1)) != 0;
    return misaligned ? Frame.MISALIGNED : Frame.DONE;
  }

  private static void require(boolean condition, String otherwise, long value)
      throws FrameException {
    if (!condition) {
      throw new FrameException(otherwise + ": value=" + value);
    }
  }

  /** Returns {@link Frame#LIST}, {@link Frame#CALL} or {@link Frame#FENCE}. */
  public int kindOfRequest() {
    return frame.get(Frame.KIND);
  }

  /** Returns the number of verbs. */
  public int verbs() {
    return frame.getShort(Frame.VERBS);
  }

  /** Returns the number to answer with. */
  public long sequence() {
    return frame.getLong(Frame.SEQUENCE);
  }

  /** Returns the bytes of the response, of a CALL the most it can have. */
  public int responseBytes() {
    return (int) responseBytes;
  }

  /** Returns the number of the verb that prevents the request. */
  public int badVerb() {
    return badVerb;
  }

  /** Returns the kind of the verb. */
  public Kind kind() {
    return Frame.kind(frame.get(verb));
  }

  /** Returns the function of the CALL. */
  public int function() {
    return frame.get(verb) & 0xff;
  }

  /** Returns the number of the compute server to be fenced. */
  public int computeServer() {
    return bytes();
  }

  /** Returns the least epoch of a FENCE that is not to be refused. */
  public long leastEpoch() {
    return address();
  }

  /** Returns the bytes that the verb moves or acts on. */
  public int bytes() {
    return frame.getInt(verb + Frame.VERB_LENGTH);
  }

  /** Returns the address of the verb. */
  public long address() {
    return frame.getLong(verb + Frame.VERB_ADDRESS);
  }

  /** Returns an operand of the atomic, from 0. */
  public long operand(int operand) {
    return frame.getLong(operandsOffset() + operand * Long.BYTES);
  }

  /** Returns the offset in the frame of the operands of the atomic. */
  public int operandsOffset() {
    return verb + Frame.VERB_BYTES;
  }

  /** Returns the offset in the frame of the bytes of the WRITE or of the CALL. */
  public int payloadOffset() {
    return payload;
  }

  /** Goes to the next verb of a list, if there is one. */
  public void next() {
    Kind kind = kind();
    if (kind == Kind.WRITE) {
      payload += Frame.padded(bytes());
    }
    verb += Frame.VERB_BYTES + kind.operandBytes();
  }
}
