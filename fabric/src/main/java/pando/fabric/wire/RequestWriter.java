package pando.fabric.wire;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.zip.CRC32C;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;

/**
 * Writes one request after the other: {@link #begin}, {@link #add} for each verb until one does not
 * fit, {@link #payload} for each WRITE, {@link #finish}; or {@link #call}, or {@link #fence}. Then
 * {@link #send}, any number of times. Allocates only to grow. Not thread-safe.
 */
public final class RequestWriter {
  private static final int OPERANDS_16 = 64;

  private final long epoch;
  private final FrameBuffer buffer = new FrameBuffer();
  private final CRC32C crc = new CRC32C();
  private int verbs;
  private int verbsEnd;
  private int payloadBytes;
  private int resultBytes;
  private int end;
  private int kindOfRequest = Frame.LIST;

  /**
   * Creates a writer.
   *
   * @param epoch that of the HELLO, 0 for none
   */
  public RequestWriter(long epoch) {
    this.epoch = epoch;
  }

  /** Begins a request. */
  public void begin() {
    buffer.clear();
    verbs = 0;
    verbsEnd = Frame.REQUEST_BYTES;
    payloadBytes = 0;
    resultBytes = Frame.RESPONSE_BYTES;
  }

  /**
   * Adds a verb of a list, if the request and its response have room. The first always fits.
   *
   * @param memory has the operands of a 16-byte masked CAS
   * @return whether it was added
   */
  public boolean add(VerbList list, int index, MemorySegment memory) {
    Kind kind = list.kind(index);
    int bytes = list.length(index);
    int verbBytes = Frame.VERB_BYTES + kind.operandBytes();
    int payload = kind == Kind.WRITE ? Frame.padded(bytes) : 0;
    int result = kind == Kind.READ ? Frame.padded(bytes) : kind.resultBytes();
    if (verbs == Frame.VERBS_MAX
        || verbsEnd + verbBytes + payloadBytes + payload > Frame.BYTES_MAX
        || resultBytes + result > Frame.BYTES_MAX) {
      return false;
    }
    buffer.bytes().position(verbsEnd);
    buffer.ensure(verbsEnd + verbBytes);
    putVerb(Frame.op(kind), bytes, list.remote(index));
    if (kind == Kind.MASKED_CAS_16) {
      int operands = verbsEnd + Frame.VERB_BYTES;
      MemorySegment.copy(memory, list.local(index), buffer.segment(), operands, OPERANDS_16);
    } else {
      putOperands(list, index, kind.operandBytes() / Long.BYTES);
    }
    verbs++;
    verbsEnd += verbBytes;
    payloadBytes += payload;
    resultBytes += result;
    return true;
  }

  /** Begins the payloads, once all verbs are added. */
  public void beginPayloads() {
    buffer.bytes().position(verbsEnd);
    buffer.ensure(verbsEnd + payloadBytes);
    end = verbsEnd;
  }

  /** Adds the bytes of the next WRITE. */
  public void payload(MemorySegment memory, long local, int bytes) {
    Frame.clearPad(buffer.bytes(), end, bytes);
    MemorySegment.copy(memory, local, buffer.segment(), end, bytes);
    end += Frame.padded(bytes);
  }

  /** Ends a request of verbs. */
  public void finish(long sequence) {
    assert end == verbsEnd + payloadBytes;
    putHeader(Frame.LIST, sequence);
  }

  /** Writes the request of a CALL. */
  public void call(long sequence, int function, MemorySegment memory, long message, int bytes) {
    begin();
    putVerb(function, bytes, 0);
    verbs = 1;
    verbsEnd += Frame.VERB_BYTES;
    payloadBytes = Frame.padded(bytes);
    beginPayloads();
    payload(memory, message, bytes);
    putHeader(Frame.CALL, sequence);
  }

  /** Writes the request of a FENCE. */
  public void fence(long sequence, int computeServer, long leastEpoch) {
    begin();
    putVerb(0, computeServer, leastEpoch);
    verbs = 1;
    verbsEnd += Frame.VERB_BYTES;
    beginPayloads();
    putHeader(Frame.FENCE, sequence);
  }

  /**
   * Returns whether a response is one that this request can have: with the results that it asks
   * for, or a status that says why there are none. What only a client can cause that did not check
   * its addresses is none of them.
   */
  public boolean isAnsweredBy(ResponseReader response) {
    int bytes = response.resultBytes();
    boolean isCall = kindOfRequest == Frame.CALL;
    return switch (response.status()) {
      case Frame.DONE -> isCall ? isMessage(response) : bytes == resultBytes - Frame.RESPONSE_BYTES;
      case Frame.CALL_FAILED -> isCall && isMessage(response);
      case Frame.BUSY -> kindOfRequest != Frame.LIST && bytes == 0;
      case Frame.FENCED -> kindOfRequest != Frame.FENCE && bytes == 0;
      case Frame.REFUSED -> isMessage(response);
      default -> false;
    };
  }

  private static boolean isMessage(ResponseReader response) {
    int bytes = response.detail();
    return bytes <= Worker.CALL_BYTES_MAX && response.resultBytes() == Frame.padded(bytes);
  }

  /** Returns the bytes of the request. */
  int length() {
    return end;
  }

  /** Copies the request into a buffer. */
  void copyTo(ByteBuffer target, int offset) {
    target.put(offset, buffer.bytes(), 0, end);
  }

  /** Sends the request. */
  public void send(WritableByteChannel channel) throws IOException {
    buffer.send(channel, end);
  }

  /**
   * Returns whether the last {@link #send} handed all of the request to its channel, even if it
   * failed: if not, the other side cannot have it whole.
   */
  public boolean hasLeft() {
    return !buffer.bytes().hasRemaining();
  }

  private void putVerb(int op, int bytes, long address) {
    ByteBuffer frame = buffer.bytes();
    frame.putInt(verbsEnd, op);
    frame.putInt(verbsEnd + Frame.VERB_LENGTH, bytes);
    frame.putLong(verbsEnd + Frame.VERB_ADDRESS, address);
  }

  private void putOperands(VerbList list, int index, int count) {
    int offset = verbsEnd + Frame.VERB_BYTES;
    for (int operand = 0; operand < count; operand++) {
      buffer.bytes().putLong(offset + operand * Long.BYTES, list.operand(index, operand));
    }
  }

  private void putHeader(int kind, long sequence) {
    kindOfRequest = kind;
    ByteBuffer frame = buffer.bytes();
    frame.putInt(Frame.LENGTH, end);
    frame.put(Frame.KIND, (byte) kind);
    frame.put(Frame.FLAGS, (byte) 0);
    frame.putShort(Frame.VERBS, (short) verbs);
    frame.putLong(Frame.SEQUENCE, sequence);
    frame.putLong(Frame.EPOCH, epoch);
    frame.putInt(Frame.WORKER, 0);
    frame.putInt(Frame.CHECKSUM, Frame.checksum(crc, frame, verbsEnd));
  }
}
