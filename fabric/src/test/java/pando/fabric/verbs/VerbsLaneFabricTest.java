package pando.fabric.verbs;

import java.util.concurrent.ExecutorService;
import org.junit.jupiter.api.Tag;
import pando.fabric.Fabric;
import pando.fabric.LaneWorkers;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** The contract for workers of one lane, which takes an emulated machine a minute or two. */
@Tag("campaign")
class VerbsLaneFabricTest extends VerbsFabricTest {
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
