package pando.sim.fabric;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FabricContract;
import pando.fabric.server.PoolOptions;
import pando.sim.Cluster;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.NetworkKind;

/** Outside of clients, where verbs take no time. */
class SimFabricTest extends FabricContract {
  private @Nullable Cluster cluster;

  NetworkKind network() {
    return NetworkKind.CARDS;
  }

  @Override
  protected Fabric open(PoolOptions options) {
    cluster =
        new Cluster(
            new ClusterOptions(
                2,
                options,
                true,
                network(),
                ClusterModel.defaults(),
                Set.of(),
                1,
                0,
                options.seed()));
    return cluster.fabric(0);
  }

  @Override
  protected void close(Fabric open) {
    Objects.requireNonNull(cluster).close();
  }

  @Override
  protected Fabric openAs(ComputeServer computeServer) {
    return Objects.requireNonNull(cluster).fabric(0, computeServer);
  }

  @Override
  protected void stop() {}

  @Override
  protected int atomicityBytes() {
    return 64;
  }
}
