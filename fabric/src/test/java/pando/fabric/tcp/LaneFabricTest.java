package pando.fabric.tcp;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.server.PoolOptions;

/** The contract for workers of one lane, which share a connection to each memory server. */
@SuppressWarnings("NullAway.Init") // Each test opens its own lane.
class LaneFabricTest extends TcpFabricTest {
  private Lane lane;

  @Override
  protected Fabric open(PoolOptions options) throws Exception {
    Fabric fabric = super.open(options);
    lane = fabric.lane("lane");
    return fabric;
  }

  @Override
  protected Worker worker(Fabric open, RegisteredMemory memory) {
    try (ExecutorService threads = threads(open)) {
      return threads.submit(() -> open.worker(memory)).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  protected ExecutorService threads(Fabric open) {
    return Executors.newThreadPerTaskExecutor(lane);
  }

  @Override
  protected void stop() {
    lane.close();
    super.stop();
  }
}
