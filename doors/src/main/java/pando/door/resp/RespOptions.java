package pando.door.resp;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a RESP door. Immutable.
 *
 * @param address to listen on; port 0 is any that is free
 * @param password that clients have to give; {@code null} if there is none
 * @param tls {@code null} for connections that are not encrypted
 * @param open whether the door may listen beyond the loopback interface without a password
 * @param eventLoops threads that serve connections, 1 to {@value #EVENT_LOOPS_MAX}; each has a
 *     session of the index
 * @param clientsMax connections at the most, 1 or more
 * @param waitingBytesMax bytes that unfinished requests and unsent replies of all connections may
 *     take, {@value #WAITING_BYTES_MIN} or more
 */
public record RespOptions(
    InetSocketAddress address,
    @Nullable Password password,
    @Nullable Tls tls,
    boolean open,
    int eventLoops,
    int clientsMax,
    long waitingBytesMax) {
  /** The port of Redis. */
  public static final int PORT = 6379;

  /** Greatest number of event loops. */
  public static final int EVENT_LOOPS_MAX = 256;

  /**
   * Number of event loops for a door that shares its byte strings, as operations may wait for a
   * network; the number of processors if that is greater.
   */
  public static final int EVENT_LOOPS_SHARED = 8;

  /** Least number of bytes for requests and replies that wait: one of each. */
  public static final long WAITING_BYTES_MIN = 64 << 20;

  /**
   * Where the keys of encrypted connections are.
   *
   * @param certificates file with the server's certificate and those it was issued by, in PEM
   * @param key file with the server's private key, in PEM (PKCS #8), not encrypted
   */
  public record Tls(Path certificates, Path key) {}

  /** Checks the ranges. */
  public RespOptions {
    if (eventLoops < 1
        || eventLoops > EVENT_LOOPS_MAX
        || clientsMax < 1
        || waitingBytesMax < WAITING_BYTES_MIN) {
      throw new IllegalArgumentException(
          "out of range: eventLoops=%s, clientsMax=%s, waitingBytesMax=%s"
              .formatted(eventLoops, clientsMax, waitingBytesMax));
    }
  }

  /**
   * Returns the defaults: the loopback interface, no password, no encryption, an event loop for
   * each processor, 10,000 clients, and a quarter of the heap for what waits.
   *
   * @param port 0 for any that is free
   * @throws IllegalArgumentException if the port is out of range
   */
  public static RespOptions loopback(int port) {
    return new RespOptions(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
        null,
        null,
        false,
        Math.min(Runtime.getRuntime().availableProcessors(), EVENT_LOOPS_MAX),
        10_000,
        Math.max(WAITING_BYTES_MIN, Runtime.getRuntime().maxMemory() / 4));
  }

  /** Returns these options with another address. */
  public RespOptions withAddress(InetSocketAddress other) {
    return new RespOptions(other, password, tls, open, eventLoops, clientsMax, waitingBytesMax);
  }

  /** Returns these options with a password, or with none. */
  public RespOptions withPassword(@Nullable Password other) {
    return new RespOptions(address, other, tls, open, eventLoops, clientsMax, waitingBytesMax);
  }

  /** Returns these options with encrypted connections, or without. */
  public RespOptions withTls(@Nullable Tls other) {
    return new RespOptions(address, password, other, open, eventLoops, clientsMax, waitingBytesMax);
  }

  /** Returns these options with another answer to whether a password is needed everywhere. */
  public RespOptions withOpen(boolean other) {
    return new RespOptions(address, password, tls, other, eventLoops, clientsMax, waitingBytesMax);
  }

  /** Returns these options with another number of event loops. */
  public RespOptions withEventLoops(int other) {
    return new RespOptions(address, password, tls, open, other, clientsMax, waitingBytesMax);
  }

  /** Returns these options with another number of clients. */
  public RespOptions withClientsMax(int other) {
    return new RespOptions(address, password, tls, open, eventLoops, other, waitingBytesMax);
  }

  /** Returns these options with other room for what waits. */
  public RespOptions withWaitingBytesMax(long other) {
    return new RespOptions(address, password, tls, open, eventLoops, clientsMax, other);
  }
}
