package pando.fabric;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A lane for each fabric, in which workers are opened and threads run. */
public final class LaneWorkers implements AutoCloseable {
  private final Map<Fabric, Lane> lanes = new HashMap<>();

  /** Creates it, without lanes. */
  public LaneWorkers() {}

  /** Opens a worker in the fabric's lane. */
  public Worker worker(Fabric fabric, RegisteredMemory memory) {
    try (ExecutorService threads = threads(fabric)) {
      return threads.submit(() -> fabric.worker(memory)).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns what runs threads in the fabric's lane. */
  public ExecutorService threads(Fabric fabric) {
    return Executors.newThreadPerTaskExecutor(
        lanes.computeIfAbsent(fabric, open -> open.lane("lane")));
  }

  @Override
  public void close() {
    lanes.values().forEach(Lane::close);
  }
}
