package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvQp;
import pando.fabric.verbs.Abi.IbvQpAttr;
import pando.fabric.verbs.Abi.IbvQpInitAttr;

/**
 * One end of a reliable connection between two cards. Its verbs take effect in the order in which
 * they are posted. One that fails breaks it: all behind it are flushed, and it is of no further
 * use.
 */
final class QueuePair implements AutoCloseable {
  /** Bytes of WRITEs that go within the request, which saves the card a look at memory. */
  private static final int INLINE_BYTES_ASKED = 128;

  /** Time without an answer after which a card sends again: 4.096 us times 2 to this power. */
  private static final byte TIMEOUT = 14;

  /** How often it sends again. Never 7, which some take for ever. */
  private static final byte RETRIES = 6;

  /** The code of 0.64 ms, for which a sender waits where there is no room for a message. */
  private static final byte RECEIVER_WAIT = 12;

  private static final byte HOP_LIMIT = 64;
  private static final int PACKET_BITS = 24;

  /** {@code max_rd_atomic} and the like are bytes. */
  private static final int BYTE_MAX = 127;

  private final Device device;
  private final long queuePair;
  private final int number;
  private final int inlineBytes;
  private final int packet;

  /**
   * Creates it, not connected.
   *
   * @param completions of its verbs
   * @param depth verbs under way, at most
   * @param packet random number of its first packet
   */
  QueuePair(Device device, CompletionQueue completions, int depth, int packet) {
    this(device, completions, depth, packet, 0);
  }

  /**
   * Creates it, with room for messages that it shares with others.
   *
   * @param completions where its verbs and messages complete
   * @param receives address of the shared receive queue, or 0: it has one of its own, for one
   *     message
   */
  QueuePair(Device device, CompletionQueue completions, int depth, int packet, long receives) {
    this.device = device;
    this.packet = packet & ((1 << PACKET_BITS) - 1);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(IbvQpInitAttr.BYTES, Long.BYTES);
      attributes.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.SEND_CQ, completions.address());
      attributes.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.RECV_CQ, completions.address());
      attributes.set(ValueLayout.JAVA_LONG, IbvQpInitAttr.SRQ, receives);
      attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_WR, depth);
      attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_WR, 1);
      attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_SEND_SGE, 1);
      attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_RECV_SGE, 1);
      attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_INLINE_DATA, INLINE_BYTES_ASKED);
      attributes.set(
          ValueLayout.JAVA_INT, IbvQpInitAttr.QP_TYPE, IbvQpInitAttr.RELIABLE_CONNECTION);
      this.queuePair = device.library().createQueuePair(device.domain(), attributes);
      this.inlineBytes = attributes.get(ValueLayout.JAVA_INT, IbvQpInitAttr.MAX_INLINE_DATA);
    }
    this.number =
        NativeMemory.at(queuePair, IbvQp.QP_NUM + Integer.BYTES)
            .get(ValueLayout.JAVA_INT, IbvQp.QP_NUM);
  }

  /** Returns the number by which the card names it. */
  int number() {
    return number;
  }

  /** Returns where it is, for the other side. */
  Endpoint endpoint() {
    return device.endpoint(number, packet);
  }

  /** Returns the most bytes of a WRITE that may go within the request. */
  int inlineBytes() {
    return inlineBytes;
  }

  /** Connects it to another one, which has to do the same. */
  void connect(Endpoint other) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(IbvQpAttr.BYTES, Long.BYTES);
      initialise(attributes);
      readyToReceive(attributes, other);
      readyToSend(attributes, other);
    }
  }

  private void initialise(MemorySegment attributes) {
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.QP_STATE, IbvQpAttr.INIT);
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.QP_ACCESS_FLAGS, IbvMr.ALL_ACCESS);
    attributes.set(ValueLayout.JAVA_SHORT, IbvQpAttr.PKEY_INDEX, (short) 0);
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.PORT_NUM, (byte) device.port());
    modify(attributes, IbvQpAttr.INIT_MASK);
  }

  private void readyToReceive(MemorySegment attributes, Endpoint other) {
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.QP_STATE, IbvQpAttr.READY_TO_RECEIVE);
    attributes.set(
        ValueLayout.JAVA_INT, IbvQpAttr.PATH_MTU, Math.min(other.mtu(), endpoint().mtu()));
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.DEST_QP_NUM, other.queuePair());
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.RQ_PSN, other.packet());
    attributes.set(
        ValueLayout.JAVA_BYTE,
        IbvQpAttr.MAX_DEST_RD_ATOMIC,
        (byte) Math.min(BYTE_MAX, endpoint().readsMax()));
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.MIN_RNR_TIMER, RECEIVER_WAIT);
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.AH_PORT_NUM, (byte) device.port());
    attributes.set(ValueLayout.JAVA_SHORT, IbvQpAttr.DLID, (short) other.lid());
    Gid own = device.gid();
    if (own != null) {
      attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.IS_GLOBAL, (byte) 1);
      attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.SGID_INDEX, (byte) own.index());
      attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.HOP_LIMIT, HOP_LIMIT);
      ValueLayout.OfLong bigEndian = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
      attributes.set(bigEndian, IbvQpAttr.DGID, other.gid().high());
      attributes.set(bigEndian, IbvQpAttr.DGID + Long.BYTES, other.gid().low());
    }
    modify(attributes, IbvQpAttr.READY_TO_RECEIVE_MASK);
  }

  private void readyToSend(MemorySegment attributes, Endpoint other) {
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.QP_STATE, IbvQpAttr.READY_TO_SEND);
    attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.SQ_PSN, packet);
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.TIMEOUT, TIMEOUT);
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.RETRY_CNT, RETRIES);
    attributes.set(ValueLayout.JAVA_BYTE, IbvQpAttr.RNR_RETRY, RETRIES);
    attributes.set(
        ValueLayout.JAVA_BYTE,
        IbvQpAttr.MAX_RD_ATOMIC,
        (byte) Math.min(device.maxReads(), other.readsMax()));
    modify(attributes, IbvQpAttr.READY_TO_SEND_MASK);
  }

  /** Posts room for a message. */
  void receive(ReceiveRequest request, long completion) {
    request.post(device.postReceiveFunction(), queuePair, completion);
  }

  /** Posts verbs in order, and hears of them by its completion queue. */
  void post(WorkRequests requests) {
    int result =
        Libibverbs.call(
            device.postSendFunction(), queuePair, requests.first(), requests.refusedRoom());
    if (result != 0) {
      throw new IllegalStateException(
          "the card takes no verbs: card="
              + device.name()
              + ", error="
              + result
              + ", verbs="
              + requests.size());
    }
  }

  /** Breaks it: what is under way is flushed, and what comes is refused. */
  void breakUp() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(IbvQpAttr.BYTES, Long.BYTES);
      attributes.set(ValueLayout.JAVA_INT, IbvQpAttr.QP_STATE, IbvQpAttr.ERROR);
      modify(attributes, IbvQpAttr.ERROR_MASK);
    }
  }

  @Override
  public void close() {
    device.library().destroyQueuePair(queuePair);
  }

  private void modify(MemorySegment attributes, int mask) {
    device.library().modifyQueuePair(queuePair, attributes, mask);
  }
}
