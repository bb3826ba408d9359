package pando.fabric.tcp;

import java.util.concurrent.ExecutorService;
import pando.fabric.Fabric;
import pando.fabric.LaneWorkers;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** The contract for workers of one lane, which share a connection to each memory server. */
class LaneFabricTest extends TcpFabricTest {
  private final LaneWorkers lanes = new LaneWorkers();

  @Override
  protected Worker worker(Fabric open, RegisteredMemory memory) {
    return lanes.worker(open, memory);
  }

  @Override
  protected ExecutorService threads(Fabric open) {
    return lanes.threads(open);
  }

  @Override
  protected void stop() {
    lanes.close();
    super.stop();
  }
}
