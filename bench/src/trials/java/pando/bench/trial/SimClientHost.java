package pando.bench.trial;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.client.ClientHost;
import pando.sim.Cluster;
import pando.sim.fault.Fault;

/**
 * Where a client of a simulated cluster runs, with one thread: virtual time, and lines to compute
 * servers, which carry out what it asks while it waits.
 */
final class SimClientHost implements ClientHost {
  private static final long WAY_NANOS_MIN = 1_000;
  private static final long WAY_NANOS_MAX = 21_000;

  private final Cluster cluster;
  private final ClusterWatch watch;
  private final RandomGenerator random;

  SimClientHost(Cluster cluster, ClusterWatch watch, RandomGenerator random) {
    this.cluster = cluster;
    this.watch = watch;
    this.random = random;
  }

  @Override
  public long nanoTime() {
    return cluster.nanos();
  }

  @Override
  public void pause(long nanos) {
    cluster.sleepNanos(nanos);
  }

  @Override
  public long random() {
    return random.nextLong();
  }

  @Override
  public Line line(String address) {
    return new SimLine(address);
  }

  @Override
  public void close() {}

  private void way() {
    cluster.sleepNanos(random.nextLong(WAY_NANOS_MIN, WAY_NANOS_MAX));
  }

  /** A line; its channel keeps what goes until the client waits, then has what comes. */
  private final class SimLine implements Line, ByteChannel {
    private final String address;
    private final ByteArrayOutputStream requests = new ByteArrayOutputStream();
    private ByteBuffer responses = ByteBuffer.allocate(0);
    private @Nullable ClusterServer server;

    /** Whether nothing comes any more. */
    private boolean isCut;

    SimLine(String address) {
      this.address = address;
    }

    @Override
    public ByteChannel open() throws IOException {
      way();
      way();
      server = watch.at(address).orElseThrow(() -> new IOException("nobody listens there"));
      requests.reset();
      responses.clear().limit(0);
      isCut = false;
      return this;
    }

    @Override
    public void await(long nanosMax) throws IOException {
      ClusterServer its = server;
      if (its == null) {
        return;
      }
      byte[] asked = requests.toByteArray();
      requests.reset();
      way();
      long cutNanos = cluster.faultNanos(Fault.CUT_CLIENT);
      if (cutNanos == 0 || random.nextBoolean()) {
        responses = ByteBuffer.wrap(its.serve(asked));
      }
      way();
      if (cutNanos > 0) {
        cluster.sleepNanos(cutNanos);
        responses.clear().limit(0);
        isCut = true;
      }
    }

    @Override
    public int write(ByteBuffer from) {
      byte[] bytes = new byte[from.remaining()];
      from.get(bytes);
      requests.writeBytes(bytes);
      return bytes.length;
    }

    @Override
    public int read(ByteBuffer to) {
      int bytes = Math.min(responses.remaining(), to.remaining());
      to.put(responses.slice().limit(bytes));
      responses.position(responses.position() + bytes);
      return bytes == 0 && isCut ? -1 : bytes;
    }

    @Override
    public boolean isOpen() {
      return server != null;
    }

    /** Does nothing, as the channel takes all. */
    @Override
    public void awaitRoom(boolean awaits) {}

    @Override
    public void end() {
      server = null;
    }

    @Override
    public void close() {
      end();
    }
  }
}
