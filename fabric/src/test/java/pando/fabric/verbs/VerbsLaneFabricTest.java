package pando.fabric.verbs;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import pando.fabric.Fabric;
import pando.fabric.Lane;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** The contract for workers of one lane. */
class VerbsLaneFabricTest extends VerbsFabricTest {
  private final Map<Fabric, Lane> lanes = new HashMap<>();

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
    return Executors.newThreadPerTaskExecutor(
        lanes.computeIfAbsent(open, fabric -> fabric.lane("lane")));
  }

  @Override
  protected void stop() {
    lanes.values().forEach(Lane::close);
    super.stop();
  }
}
