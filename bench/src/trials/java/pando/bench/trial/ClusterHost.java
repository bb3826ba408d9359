package pando.bench.trial;

import pando.cluster.Host;
import pando.sim.Cluster;

/** A machine of a simulated cluster, whose clock runs a little fast or slow. */
final class ClusterHost implements Host {
  private final Cluster cluster;
  private final int machine;

  /** Nanoseconds of its clock in one of the simulation. */
  private final double rate;

  ClusterHost(Cluster cluster, int machine, double rate) {
    this.cluster = cluster;
    this.machine = machine;
    this.rate = rate;
  }

  @Override
  public long nanoTime() {
    return (long) (cluster.nanos() * rate);
  }

  @Override
  public Thread newThread(String name, Runnable body) {
    return cluster.fabric(machine).lane(name).newThread(body);
  }

  @Override
  public Signal signal() {
    pando.sim.Signal signal = cluster.signal();
    return new Signal() {
      @Override
      public void give() {
        signal.give();
      }

      @Override
      public void await(long nanosMax) {
        signal.await(1 + (long) (nanosMax / rate));
      }
    };
  }
}
