package pando.fabric.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between clients and a server of either protocol: each connection is cut when so many bytes
 * have passed, both ways together, wherever that is in HELLO, a request or a response. Half of the
 * cuts are orderly ends, half are resets.
 */
public final class CuttingProxy implements AutoCloseable {
  private final InetSocketAddress target;
  private final ServerSocket listener;
  private final int bytesMax;
  private final SplittableRandom random;
  private final AtomicLong cuts = new AtomicLong();
  private volatile boolean lenient;

  private CuttingProxy(InetSocketAddress target, ServerSocket listener, int bytesMax, long seed) {
    this.target = target;
    this.listener = listener;
    this.bytesMax = bytesMax;
    this.random = new SplittableRandom(seed);
  }

  /** Starts a proxy whose connections pass fewer bytes than a limit. */
  public static CuttingProxy start(InetSocketAddress target, int bytesMax, long seed)
      throws IOException {
    ServerSocket listener = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
    CuttingProxy proxy = new CuttingProxy(target, listener, bytesMax, seed);
    daemon(proxy::accept);
    return proxy;
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
  }

  /** Returns how many connections were cut. */
  public long cuts() {
    return cuts.get();
  }

  /** Cuts no further connections that come from now on. */
  public void stopCutting() {
    lenient = true;
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        Passage passage = new Passage(client, new Socket(target.getAddress(), target.getPort()));
        daemon(() -> passage.pump(passage.client, passage.server));
        daemon(() -> passage.pump(passage.server, passage.client));
      } catch (IOException ended) {
        // The proxy is closed.
      }
    }
  }

  private static void daemon(Runnable run) {
    Thread.ofPlatform().daemon().name("cutting-proxy").start(run);
  }

  /** Both sides of a connection. */
  private final class Passage {
    private final Socket client;
    private final Socket server;
    private final boolean reset = random.nextBoolean();
    private final Semaphore left;

    Passage(Socket client, Socket server) throws IOException {
      this.client = client;
      this.server = server;
      this.left = new Semaphore(lenient ? Integer.MAX_VALUE : random.nextInt(bytesMax));
      client.setTcpNoDelay(true);
      server.setTcpNoDelay(true);
    }

    void pump(Socket from, Socket to) {
      byte[] bytes = new byte[8 << 10];
      try (from;
          to) {
        InputStream input = from.getInputStream();
        OutputStream output = to.getOutputStream();
        int read = input.read(bytes);
        while (read >= 0) {
          int passed = take(read);
          output.write(bytes, 0, passed);
          if (passed < read) {
            cut();
            return;
          }
          read = input.read(bytes);
        }
      } catch (IOException ended) {
        // The other direction has cut it, or one of both sides has ended it.
      }
    }

    /** Takes as many of the bytes as are left. */
    private int take(int bytes) {
      int taken = 0;
      while (taken < bytes && left.tryAcquire()) {
        taken++;
      }
      return taken;
    }

    private void cut() throws IOException {
      cuts.incrementAndGet();
      if (reset) {
        client.setSoLinger(true, 0);
        server.setSoLinger(true, 0);
      }
    }
  }
}
