package pando.bench.run;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import pando.bench.subject.Subject;
import pando.fabric.Lane;

/** The threads of the clients of this process: platform threads, or those of lanes. */
final class ClientThreads implements AutoCloseable {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final List<ExecutorService> executors = new ArrayList<>();
  private final List<Lane> lanes = new ArrayList<>();
  private final int clientsPerExecutor;

  private ClientThreads(int clientsPerExecutor) {
    this.clientsPerExecutor = clientsPerExecutor;
  }

  /**
   * Opens threads.
   *
   * @param clients of this process
   */
  static ClientThreads open(Subject subject, Plan plan, int clients) {
    if (plan.lanes() == 0) {
      ClientThreads threads = new ClientThreads(clients);
      threads.executors.add(Executors.newFixedThreadPool(clients));
      return threads;
    }
    ClientThreads threads = new ClientThreads(plan.clientsPerLane());
    try {
      for (int first = 0; first < clients; first += plan.clientsPerLane()) {
        Lane lane = subject.lane("lane-" + threads.lanes.size());
        threads.lanes.add(lane);
        threads.executors.add(Executors.newThreadPerTaskExecutor(lane));
      }
      return threads;
    } catch (RuntimeException | Error e) {
      threads.close();
      throw e;
    }
  }

  /** Returns the bytes that all threads of this process have allocated so far. */
  static long allocatedBytes() {
    return THREADS.getTotalThreadAllocatedBytes();
  }

  /** Runs a client in its thread. */
  <T> Future<T> submit(int client, Callable<T> task) {
    return executors.get(client / clientsPerExecutor).submit(task);
  }

  /** Waits until all have ended. */
  @Override
  public void close() {
    executors.forEach(ExecutorService::close);
    lanes.forEach(Lane::close);
  }
}
