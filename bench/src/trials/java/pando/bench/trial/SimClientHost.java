package pando.bench.trial;

import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.client.ClientHost;
import pando.client.server.FrameLine;
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

  private final class SimLine extends FrameLine {
    private final String address;
    private @Nullable ClusterServer server;

    SimLine(String address) {
      this.address = address;
    }

    @Override
    public ByteChannel open() throws IOException {
      way();
      way();
      server = watch.at(address).orElseThrow(() -> new IOException("nobody listens there"));
      return super.open();
    }

    @Override
    public void await(long nanosMax) throws IOException {
      ClusterServer its = server;
      if (its == null) {
        return;
      }
      byte[] asked = takeRequests();
      way();
      long cutNanos = cluster.faultNanos(Fault.CUT_CLIENT);
      if (cutNanos == 0 || random.nextBoolean()) {
        addResponses(its.serve(asked));
      }
      way();
      if (cutNanos > 0) {
        cluster.sleepNanos(cutNanos);
        cut();
      }
    }

    @Override
    public void end() {
      super.end();
      server = null;
    }
  }
}
