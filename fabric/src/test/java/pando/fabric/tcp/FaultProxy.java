package pando.fabric.tcp;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import pando.fabric.wire.Hello;

/** Stands between a compute server and a memory server, and does to requests what it is told. */
final class FaultProxy implements AutoCloseable {
  /** What happens to a request. */
  enum Fault {
    /** The connection is cut; the memory server gets nothing of it. */
    BEFORE(false),
    /** The connection is cut; the memory server gets half of it. */
    WITHIN(false),
    /** The memory server serves it; the connection is cut without its response. */
    BEHIND(true),
    /** The memory server serves it; half of the response comes back. */
    WITHIN_RESPONSE(true),
    /** The memory server serves it; nothing comes back for as long as the client waits. */
    STALLED(true);

    private final boolean served;

    Fault(boolean served) {
      this.served = served;
    }

    boolean isServed() {
      return served;
    }
  }

  private final InetSocketAddress target;
  private final ServerSocket listener;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final BlockingQueue<Fault> faults = new LinkedBlockingQueue<>();
  private final Semaphore stalled = new Semaphore(0);

  private FaultProxy(InetSocketAddress target, ServerSocket listener) {
    this.target = target;
    this.listener = listener;
  }

  static FaultProxy start(InetSocketAddress target) throws IOException {
    FaultProxy proxy =
        new FaultProxy(target, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    Thread.ofPlatform().daemon().name("fault-proxy").start(proxy::accept);
    return proxy;
  }

  InetSocketAddress address() {
    return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
  }

  /** Lets a fault happen to the next request that has none yet. */
  void inject(Fault fault) {
    faults.add(fault);
  }

  /** Waits until the response to a request is held back. */
  void awaitStalled() throws InterruptedException {
    stalled.acquire();
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
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
      while (true) {
        byte[] request = frame(fromClient);
        Fault fault = faults.poll();
        if (fault == Fault.BEFORE) {
          return;
        }
        if (fault == Fault.WITHIN) {
          toServer.write(Arrays.copyOf(request, request.length / 2));
          return;
        }
        toServer.write(request);
        byte[] response = frame(fromServer);
        if (fault == Fault.BEHIND) {
          return;
        }
        if (fault == Fault.WITHIN_RESPONSE) {
          toClient.write(Arrays.copyOf(response, response.length / 2));
          return;
        }
        if (fault == Fault.STALLED) {
          stalled.release();
          // Until the client gives up.
          int end = fromClient.read();
          assert end < 0;
          return;
        }
        toClient.write(response);
      }
    } catch (IOException ended) {
      // One of both sides ended the connection.
    }
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
