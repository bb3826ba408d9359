package pando.door.resp;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import pando.fabric.memory.Closing;

/**
 * Threads that run what takes too long for an event loop, so that no client waits for the request
 * of another one. They start when there is something to run; each has a lane, and so a session.
 * Thread-safe.
 */
final class Background implements AutoCloseable {
  static final int THREADS = 4;

  private static final System.Logger LOG = System.getLogger(Background.class.getName());

  private final Door door;
  private final ExecutorService threads =
      Executors.newFixedThreadPool(THREADS, new DefaultThreadFactory("pando-background"));
  private final Queue<RespLane> idle = new ConcurrentLinkedQueue<>();

  Background(Door door) {
    this.door = door;
  }

  /**
   * Runs a task as soon as a thread is free.
   *
   * @throws java.util.concurrent.RejectedExecutionException if this is closed
   */
  void run(Consumer<RespLane> task) {
    threads.execute(() -> {
      RespLane lane = idle.poll();
      if (lane == null) {
        lane = RespLane.inBackground(door);
      }
      try {
        task.accept(lane);
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "a task failed in the background", e);
      } finally {
        idle.add(lane);
      }
    });
  }

  /** Closes the sessions of lanes that are idle. */
  void giveMemoryBack() {
    for (int i = idle.size(); i > 0; i--) {
      run(RespLane::close); // each takes the lane that has been idle for longest
    }
  }

  /** Waits until all tasks have ended. */
  @Override
  public void close() {
    threads.shutdown();
    boolean interrupted = false;
    while (!threads.isTerminated()) {
      try {
        boolean _ = threads.awaitTermination(1, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    Closing.all(idle.stream().<Runnable>map(lane -> lane::close).toList());
  }
}
