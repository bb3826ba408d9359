package pando.fabric.wire;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.layout.ServerLayout;

/**
 * How a connection begins: the client says HELLO, the server answers. Both are {@value #BYTES}
 * bytes, little endian; what is not named is 0, and kept for clusters and features. With a secret,
 * {@link TokenExchange} comes between them; with TLS, both are encrypted.
 *
 * <pre>
 *     0  magic        the bytes "PANDO-T1" or "PANDO-C1", see {@link Protocol}
 *     8  version      u16
 *    10  status       u8    of the answer: see {@link Welcome}
 *    11  authentication u8  that the client has, or that the server asks for
 *  HELLO:
 *    12  role         u8    that the client has: 1 memory, 2 compute, 3 admin, 4 client
 *    14  number       u16   of a compute server that can be fenced, 0 to {@value ComputeServer#NUMBER_MAX}; else 0
 *    16  epoch        u64   of the same, at least 1; else 0
 *    24  way          u64   of a compute server: random, the same for all connections that replace
 *                           each other, of which the newest is served; 0 for one that replaces none
 *  answer of a memory server, 0 if the client is not let in:
 *    12  server       u32   number of the memory server
 *    16  incarnation  u64   differs each time a memory server starts
 *    24  dramBytes    u64
 *    32  onChipBytes  u32   {@value ServerLayout#ON_CHIP_BYTES}, of the on-chip region
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

  /** Status of an answer: the server speaks another version; the connection ends. */
  public static final int OTHER_VERSION = 1;

  /** Status of an answer: no room for a further connection; this one ends. */
  public static final int FULL = 2;

  /** Status of an answer: the client has to prove that it has the secret. */
  public static final int PROVE = 3;

  /** Status of an answer: the server asks for other authentication; the connection ends. */
  public static final int OTHER_AUTHENTICATION = 4;

  /** Status of an answer: not for this role, or not for this cluster; the connection ends. */
  public static final int NOT_ALLOWED = 5;

  /** Status of an answer: the secret is another one; the connection ends. */
  public static final int WRONG_SECRET = 6;

  /** Status of an answer: the compute server's epoch is refused; the connection ends. */
  public static final int FENCED = 7;

  /** Status of an answer: an older connection of the same way is being served; this one ends. */
  public static final int OCCUPIED = 8;

  /** The first byte of both, which is none of TLS. */
  static final byte FIRST_BYTE = 'P';

  /** The first byte of a client that begins with TLS. */
  private static final byte TLS_FIRST_BYTE = 22;

  private static final int VERSION_OFFSET = 8;
  private static final int STATUS_OFFSET = 10;
  private static final int AUTHENTICATION_OFFSET = 11;
  private static final int ROLE_OFFSET = 12;
  private static final int NUMBER_OFFSET = 14;
  private static final int EPOCH_OFFSET = 16;
  private static final int WAY_OFFSET = 24;
  private static final int HELLO_END = 32;
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

  /**
   * What a client says.
   *
   * @param version that it speaks; of another one, all else has no meaning
   * @param authentication that it has
   * @param role that it has, or {@code null} if there is no such role
   * @param computeServer that it can be fenced by, or {@code null}
   * @param way whose older connections this one replaces, 0 for none
   */
  public record Request(
      int version,
      AuthenticationKind authentication,
      @Nullable Role role,
      @Nullable ComputeServer computeServer,
      long way) {
    /** Returns the epoch that its requests have, 0 for none. */
    public long epoch() {
      return computeServer == null ? 0 : computeServer.epoch();
    }
  }

  /**
   * Says HELLO.
   *
   * @param computeServer that it can be fenced by, or {@code null}
   * @param way whose older connections this one replaces, 0 for none
   */
  public static void send(
      WritableByteChannel channel,
      Protocol protocol,
      AuthenticationKind authentication,
      Role role,
      @Nullable ComputeServer computeServer,
      long way)
      throws IOException {
    ByteBuffer message = message(protocol, VERSION);
    message.put(AUTHENTICATION_OFFSET, (byte) authentication.code());
    message.put(ROLE_OFFSET, (byte) role.code());
    if (computeServer != null) {
      message.putShort(NUMBER_OFFSET, (short) computeServer.number());
      message.putLong(EPOCH_OFFSET, computeServer.epoch());
    }
    message.putLong(WAY_OFFSET, way);
    sendAll(channel, message);
  }

  /**
   * Waits for a HELLO.
   *
   * @throws FrameException if it is none
   * @throws RefusedException if it is TLS
   */
  public static Request receive(ReadableByteChannel channel, Protocol protocol) throws IOException {
    ByteBuffer message = receiveAll(channel);
    if (message.get(0) == TLS_FIRST_BYTE) {
      throw new RefusedException(OTHER_AUTHENTICATION, "it speaks TLS, which is not in use here");
    }
    int version = version(message, protocol);
    if (version != VERSION) {
      return new Request(version, AuthenticationKind.NONE, null, null, 0);
    }
    checkUnused(message, STATUS_OFFSET, AUTHENTICATION_OFFSET);
    checkUnused(message, ROLE_OFFSET + 1, NUMBER_OFFSET);
    checkUnused(message, HELLO_END, BYTES);
    Role role = Role.of(message.get(ROLE_OFFSET));
    return new Request(
        version, authentication(message), role, computeServer(message, role), way(message, role));
  }

  private static long way(ByteBuffer message, @Nullable Role role) throws FrameException {
    long way = message.getLong(WAY_OFFSET);
    if (way != 0 && role != Role.COMPUTE) {
      throw new FrameException("only compute servers have ways: role=" + role + ", way=" + way);
    }
    return way;
  }

  private static @Nullable ComputeServer computeServer(ByteBuffer message, @Nullable Role role)
      throws FrameException {
    int number = message.getShort(NUMBER_OFFSET) & 0xffff;
    long epoch = message.getLong(EPOCH_OFFSET);
    if (number == 0 && epoch == 0) {
      return null;
    }
    if (role != Role.COMPUTE || !ComputeServer.isName(number, epoch)) {
      throw new FrameException(
          "no compute server has this name: role="
              + role
              + ", number="
              + number
              + ", epoch="
              + epoch);
    }
    return new ComputeServer(number, epoch);
  }

  /**
   * Answers a client that is not let in, or not yet.
   *
   * @param wanted authentication that is asked for
   */
  public static void refuse(
      WritableByteChannel channel, Protocol protocol, int status, AuthenticationKind wanted)
      throws IOException {
    ByteBuffer message = message(protocol, VERSION);
    message.put(STATUS_OFFSET, (byte) status);
    message.put(AUTHENTICATION_OFFSET, (byte) wanted.code());
    sendAll(channel, message);
  }

  /**
   * Answers a client of a compute server.
   *
   * @param status {@link #WELCOME} or {@link #FULL}
   */
  public static void answer(WritableByteChannel channel, int status) throws IOException {
    ByteBuffer message = message(Protocol.OPERATIONS, VERSION);
    sendAll(channel, message.put(STATUS_OFFSET, (byte) status));
  }

  /** Answers a client of a memory server. */
  public static void answer(WritableByteChannel channel, Welcome welcome) throws IOException {
    ByteBuffer message = message(Protocol.VERBS, welcome.version);
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
   * @return the answer, which is empty but for version and status if that is {@link #OTHER_VERSION}
   *     or {@link #PROVE}, or if it is of a compute server
   * @throws FrameException if it is none, or no memory server is as it says
   * @throws RefusedException if the server does not let the client in
   */
  public static Welcome receiveAnswer(ReadableByteChannel channel, Protocol protocol)
      throws IOException {
    ByteBuffer message = receiveAll(channel);
    Welcome welcome =
        new Welcome(
            version(message, protocol),
            message.get(STATUS_OFFSET),
            message.getInt(SERVER_OFFSET),
            message.getLong(INCARNATION_OFFSET),
            message.getLong(DRAM_BYTES_OFFSET),
            message.get(CAS_16_OFFSET) == 1);
    if (welcome.version == VERSION) {
      if (!isOfKnownClient(welcome.status)) {
        checkRefusal(message, protocol, welcome.status);
      } else if (protocol == Protocol.VERBS) {
        checkAnswer(message, welcome);
      } else {
        checkUnused(message, STATUS_OFFSET + 1, BYTES);
      }
    }
    return welcome;
  }

  /** Returns whether a status is for clients that have proven who they are. */
  private static boolean isOfKnownClient(int status) {
    return status == WELCOME || status == FULL || status == FENCED || status == OCCUPIED;
  }

  private static void checkRefusal(ByteBuffer message, Protocol protocol, int status)
      throws IOException {
    checkUnused(message, AUTHENTICATION_OFFSET + 1, BYTES);
    AuthenticationKind wanted = authentication(message);
    switch (status) {
      case OTHER_VERSION, PROVE -> {}
      case OTHER_AUTHENTICATION ->
          throw new RefusedException(status, "it asks for other authentication: needed=" + wanted);
      case NOT_ALLOWED ->
          throw new RefusedException(
              status, "it does not take this role, or not from this cluster");
      case WRONG_SECRET -> throw new RefusedException(status, "its secret is another one");
      default ->
          throw new FrameException(
              "no " + protocol.serverName() + " is like this: status=" + status);
    }
  }

  private static AuthenticationKind authentication(ByteBuffer message) throws FrameException {
    return AuthenticationKind.of(message.get(AUTHENTICATION_OFFSET));
  }

  private static void checkAnswer(ByteBuffer message, Welcome welcome) throws FrameException {
    int onChipBytes = message.getInt(ON_CHIP_BYTES_OFFSET);
    int cas16 = message.get(CAS_16_OFFSET);
    if (welcome.dramBytes < Fabric.CATALOGUE_BYTES
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

  private static ByteBuffer message(Protocol protocol, int version) {
    ByteBuffer message = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return message.putLong(0, protocol.magic()).putShort(VERSION_OFFSET, (short) version);
  }

  private static int version(ByteBuffer message, Protocol protocol) throws FrameException {
    if (message.getLong(0) != protocol.magic()) {
      throw new FrameException(
          "the other side does not speak this protocol: magic=0x"
              + Long.toHexString(message.getLong(0)));
    }
    return message.getShort(VERSION_OFFSET) & 0xffff;
  }

  static void sendAll(WritableByteChannel channel, ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      int written = channel.write(message);
      assert written >= 0;
    }
  }

  private static ByteBuffer receiveAll(ReadableByteChannel channel) throws IOException {
    return receiveAll(channel, ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN));
  }

  /** Fills a buffer. */
  static ByteBuffer receiveAll(ReadableByteChannel channel, ByteBuffer message) throws IOException {
    while (message.hasRemaining()) {
      if (channel.read(message) < 0) {
        throw new EOFException("the other side ended the connection: bytes=" + message.position());
      }
    }
    return message;
  }
}
