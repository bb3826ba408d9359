package pando.fabric.tcp;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.VerbList;
import pando.fabric.wire.Frame;
import pando.fabric.wire.Hello;

/**
 * Stands between a client and a server of either protocol, and does to requests what it is told.
 * The client sends no request before the last one is answered.
 */
public final class FaultProxy implements AutoCloseable {
  /** What happens to a request, and whether the server serves it for all that. */
  public enum Fault {
    /** The connection is cut; the server gets nothing of it. */
    BEFORE(false, false),
    /** The connection is cut; the server gets half of it. */
    WITHIN(false, false),
    /** The server gets half of it, and the rest not for as long as the client waits. */
    WITHIN_STALLED(false, false),
    /** The server serves it; the connection is cut without its response. */
    BEHIND(true, false),
    /** The server serves it; half of the response comes back. */
    WITHIN_RESPONSE(true, false),
    /** The server serves it; nothing comes back for as long as the client waits. */
    STALLED(true, false),
    /** The connection to the client is cut; the server gets it when it is delivered. */
    HELD(false, false),
    /** Both it and the response come late. */
    DELAYED(true, true),
    /** Both it and the response come byte by byte. */
    TRICKLED(true, true),
    /** A bit of its header or of its verbs is another, but for the length. */
    FLIPPED(false, true);

    private final boolean served;
    private final boolean harmless;

    Fault(boolean served, boolean harmless) {
      this.served = served;
      this.harmless = harmless;
    }

    /** Returns whether the server does what the request asks for. */
    public boolean isServed() {
      return served;
    }

    /** Returns whether a client gets the answer nonetheless, perhaps as it sends it again. */
    public boolean isHarmless() {
      return harmless;
    }

    /** Returns whether nothing comes back for as long as the client waits. */
    public boolean isStall() {
      return this == WITHIN_STALLED || this == STALLED;
    }
  }

  private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final InetSocketAddress target;
  private final ServerSocket listener;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final BlockingQueue<Fault> faults = new LinkedBlockingQueue<>();
  private final Semaphore stalled = new Semaphore(0);
  private final Semaphore released = new Semaphore(0);
  private final Semaphore delivered = new Semaphore(0);
  private final AtomicInteger accepted = new AtomicInteger();
  private final Random random;
  private final ToIntFunction<byte[]> flippableBytes;

  private FaultProxy(
      InetSocketAddress target,
      ServerSocket listener,
      long seed,
      ToIntFunction<byte[]> flippableBytes) {
    this.target = target;
    this.listener = listener;
    this.flippableBytes = flippableBytes;
    this.random = new Random(seed);
  }

  /** Starts a proxy to a memory server. */
  static FaultProxy start(InetSocketAddress target, long seed) throws IOException {
    return start(target, seed, FaultProxy::checkedBytes);
  }

  /**
   * Starts a proxy.
   *
   * @param checkedBytes how many bytes at the start of a request its checksum is of
   */
  public static FaultProxy start(
      InetSocketAddress target, long seed, ToIntFunction<byte[]> checkedBytes) throws IOException {
    ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    FaultProxy proxy = new FaultProxy(target, listener, seed, checkedBytes);
    Thread.ofPlatform().daemon().name("fault-proxy").start(proxy::accept);
    return proxy;
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
  }

  /** Lets a fault happen to the next request that has none yet. */
  public void inject(Fault fault) {
    faults.add(fault);
  }

  /** Waits until a request or its response is held back. */
  public void awaitStalled() throws InterruptedException {
    stalled.acquire();
  }

  /** Lets the server have the request that is held, and waits until it has done with it. */
  public void deliverHeld() throws InterruptedException {
    released.release();
    delivered.acquire();
  }

  /** Returns how many connections there were. */
  public int connections() {
    return accepted.get();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    released.release();
    cutAll();
  }

  /** Cuts all connections. */
  public void cutAll() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        accepted.incrementAndGet();
        sockets.add(client);
        Thread.ofPlatform().daemon().name("fault-proxy-connection").start(() -> pass(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void pass(Socket client) {
    try (client;
        Socket server = new Socket(target.getAddress(), target.getPort())) {
      sockets.add(server);
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
      DataInputStream fromClient = new DataInputStream(client.getInputStream());
      DataInputStream fromServer = new DataInputStream(server.getInputStream());
      OutputStream toClient = client.getOutputStream();
      OutputStream toServer = server.getOutputStream();
      toServer.write(fromClient.readNBytes(Hello.BYTES));
      toClient.write(fromServer.readNBytes(Hello.BYTES));
      boolean open = true;
      while (open) {
        byte[] request = frame(fromClient);
        Fault fault = faults.poll();
        if (fault == Fault.HELD) {
          client.close();
        }
        open =
            passRequest(fault, request, fromClient, fromServer, toServer)
                && passResponse(fault, frame(fromServer), fromClient, toClient);
      }
    } catch (IOException ended) {
      // One of both sides ended the connection.
    }
  }

  /** Returns whether there will be a response. */
  private boolean passRequest(
      @Nullable Fault fault,
      byte[] request,
      InputStream fromClient,
      InputStream fromServer,
      OutputStream toServer)
      throws IOException {
    switch (fault) {
      case BEFORE -> {
        return false;
      }
      case WITHIN -> {
        toServer.write(request, 0, request.length / 2);
        return false;
      }
      case WITHIN_STALLED -> {
        toServer.write(request, 0, request.length / 2);
        awaitEnd(fromClient);
        return false;
      }
      case FLIPPED -> {
        flip(request);
        toServer.write(request);
      }
      case DELAYED, TRICKLED -> pass(fault, request, toServer);
      case HELD -> {
        hold(request, fromServer, toServer);
        return false;
      }
      case BEHIND, WITHIN_RESPONSE, STALLED -> toServer.write(request);
      case null -> toServer.write(request);
    }
    return true;
  }

  /** Returns whether the connection goes on. */
  private boolean passResponse(
      @Nullable Fault fault, byte[] response, InputStream fromClient, OutputStream toClient)
      throws IOException {
    if (fault == Fault.BEHIND) {
      return false;
    }
    if (fault == Fault.WITHIN_RESPONSE) {
      toClient.write(response, 0, response.length / 2);
      return false;
    }
    if (fault == Fault.STALLED) {
      awaitEnd(fromClient);
      return false;
    }
    pass(fault, response, toClient);
    return true;
  }

  private static void pass(@Nullable Fault fault, byte[] frame, OutputStream to)
      throws IOException {
    if (fault == Fault.TRICKLED) {
      for (byte one : frame) {
        to.write(one);
      }
    } else {
      if (fault == Fault.DELAYED) {
        LockSupport.parkNanos(DELAY_NANOS);
      }
      to.write(frame);
    }
  }

  /** Passes a request when it is delivered, and waits for the response or the end. */
  private void hold(byte[] request, InputStream fromServer, OutputStream toServer)
      throws IOException {
    released.acquireUninterruptibly();
    try {
      toServer.write(request);
      int _ = fromServer.read();
    } finally {
      delivered.release();
    }
  }

  /** Waits until the client gives up. */
  private void awaitEnd(InputStream fromClient) throws IOException {
    stalled.release();
    int end = fromClient.read();
    assert end < 0;
  }

  /** Flips a bit behind the length that the checksum is of. */
  private void flip(byte[] request) {
    int bit = random.nextInt(8 * Integer.BYTES, 8 * flippableBytes.applyAsInt(request));
    request[bit / 8] ^= (byte) (1 << (bit % 8));
  }

  /** Returns where a request's verbs end, before the payloads of a list. */
  private static int checkedBytes(byte[] request) {
    ByteBuffer frame = ByteBuffer.wrap(request).order(ByteOrder.LITTLE_ENDIAN);
    int end = request.length;
    for (int at = 32, verb = 0; verb < frame.getShort(6); verb++) {
      int op = frame.get(at);
      boolean isWrite = op == Frame.op(VerbList.Kind.WRITE) || frame.get(4) == Frame.CALL;
      end -= isWrite ? Frame.padded(frame.getInt(at + 4)) : 0;
      at += Frame.VERB_BYTES + (isWrite ? 0 : Frame.kind(op).operandBytes());
    }
    return end;
  }

  private static byte[] frame(DataInputStream input) throws IOException {
    byte[] header = input.readNBytes(Integer.BYTES);
    if (header.length < Integer.BYTES) {
      throw new EOFException();
    }
    int length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt();
    byte[] frame = Arrays.copyOf(header, length);
    input.readFully(frame, header.length, length - header.length);
    return frame;
  }
}
