package pando.fabric.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import pando.fabric.Fabric;
import pando.fabric.layout.ServerLayout;

/**
 * How a connection begins: the client says HELLO, the memory server answers. Both are {@value
 * #BYTES} bytes, little endian; what is not named is 0, and kept for roles, clusters, epochs and
 * features.
 *
 * <pre>
 *     0  magic        the bytes "PANDO-T1"
 *     8  version      u16
 *    10  status       u8    of the answer: see {@link Welcome}
 *  answer:
 *    12  server       u32   number of the memory server
 *    16  incarnation  u64   differs each time a memory server starts
 *    24  dramBytes    u64
 *    32  onChipBytes  u32
 *    36  cas16        u8    1 if 16-byte masked CAS exists
 * </pre>
 */
public final class Hello {
  /** The version of the protocol that is spoken here. */
  public static final int VERSION = 1;

  /** Bytes of a HELLO and of its answer. */
  public static final int BYTES = 64;

  /** Status of an answer: the connection may be used. */
  public static final int WELCOME = 0;

  /** Status of an answer: the memory server speaks another version; the connection ends. */
  public static final int OTHER_VERSION = 1;

  /** Status of an answer: no room for a further connection; this one ends. */
  public static final int FULL = 2;

  private static final long MAGIC = 0x3154_2d4f_444e_4150L;
  private static final int VERSION_OFFSET = 8;
  private static final int STATUS_OFFSET = 10;
  private static final int SERVER_OFFSET = 12;
  private static final int INCARNATION_OFFSET = 16;
  private static final int DRAM_BYTES_OFFSET = 24;
  private static final int ON_CHIP_BYTES_OFFSET = 32;
  private static final int CAS_16_OFFSET = 36;
  private static final int ANSWER_END = 37;

  private Hello() {}

  /**
   * The answer of a memory server.
   *
   * @param version that it speaks
   * @param status {@link #WELCOME}, or why the connection ends
   * @param server its number
   * @param incarnation differs each time it starts
   * @param dramBytes its DRAM
   * @param cas16 whether it has 16-byte masked CAS
   */
  public record Welcome(
      int version, int status, int server, long incarnation, long dramBytes, boolean cas16) {
    /** Returns the same with another status. */
    public Welcome withStatus(int other) {
      return new Welcome(version, other, server, incarnation, dramBytes, cas16);
    }
  }

  /** Says HELLO. */
  public static void send(WritableByteChannel channel) throws IOException {
    sendAll(channel, message(VERSION));
  }

  /**
   * Waits for a HELLO.
   *
   * @return the version that the client speaks
   * @throws FrameException if it is none
   */
  public static int receive(ReadableByteChannel channel) throws IOException {
    ByteBuffer message = receiveAll(channel);
    int version = version(message);
    if (version == VERSION) {
      checkUnused(message, STATUS_OFFSET, BYTES);
    }
    return version;
  }

  /** Answers a HELLO. */
  public static void answer(WritableByteChannel channel, Welcome welcome) throws IOException {
    ByteBuffer message = message(welcome.version);
    message.put(STATUS_OFFSET, (byte) welcome.status);
    message.putInt(SERVER_OFFSET, welcome.server);
    message.putLong(INCARNATION_OFFSET, welcome.incarnation);
    message.putLong(DRAM_BYTES_OFFSET, welcome.dramBytes);
    message.putInt(ON_CHIP_BYTES_OFFSET, ServerLayout.ON_CHIP_BYTES);
    message.put(CAS_16_OFFSET, (byte) (welcome.cas16 ? 1 : 0));
    sendAll(channel, message);
  }

  /**
   * Waits for the answer to a HELLO.
   *
   * @throws FrameException if it is none, or no memory server is as it says
   */
  public static Welcome receiveAnswer(ReadableByteChannel channel) throws IOException {
    ByteBuffer message = receiveAll(channel);
    Welcome welcome =
        new Welcome(
            version(message),
            message.get(STATUS_OFFSET),
            message.getInt(SERVER_OFFSET),
            message.getLong(INCARNATION_OFFSET),
            message.getLong(DRAM_BYTES_OFFSET),
            message.get(CAS_16_OFFSET) == 1);
    if (welcome.version == VERSION) {
      checkAnswer(message, welcome);
    }
    return welcome;
  }

  private static void checkAnswer(ByteBuffer message, Welcome welcome) throws FrameException {
    int onChipBytes = message.getInt(ON_CHIP_BYTES_OFFSET);
    int cas16 = message.get(CAS_16_OFFSET);
    if (welcome.status < WELCOME
        || welcome.status > FULL
        || welcome.dramBytes < Fabric.CATALOGUE_BYTES
        || onChipBytes != ServerLayout.ON_CHIP_BYTES
        || cas16 < 0
        || cas16 > 1) {
      throw new FrameException(
          "no memory server is like this: onChipBytes="
              + onChipBytes
              + ", cas16="
              + cas16
              + ", "
              + welcome);
    }
    checkUnused(message, STATUS_OFFSET + 1, SERVER_OFFSET);
    checkUnused(message, ANSWER_END, BYTES);
  }

  private static void checkUnused(ByteBuffer message, int from, int to) throws FrameException {
    for (int offset = from; offset < to; offset++) {
      if (message.get(offset) != 0) {
        throw new FrameException(
            "a byte that must be 0: offset=" + offset + ", value=" + message.get(offset));
      }
    }
  }

  private static ByteBuffer message(int version) {
    ByteBuffer message = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return message.putLong(0, MAGIC).putShort(VERSION_OFFSET, (short) version);
  }

  private static int version(ByteBuffer message) throws FrameException {
    if (message.getLong(0) != MAGIC) {
      throw new FrameException(
          "the other side does not speak this protocol: magic=0x"
              + Long.toHexString(message.getLong(0)));
    }
    return message.getShort(VERSION_OFFSET) & 0xffff;
  }

  private static void sendAll(WritableByteChannel channel, ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      int written = channel.write(message);
      assert written >= 0;
    }
  }

  private static ByteBuffer receiveAll(ReadableByteChannel channel) throws IOException {
    ByteBuffer message = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (message.hasRemaining()) {
      if (channel.read(message) < 0) {
        throw new EOFException("the other side ended the connection: bytes=" + message.position());
      }
    }
    return message;
  }
}
