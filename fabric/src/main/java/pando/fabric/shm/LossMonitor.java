package pando.fabric.shm;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import pando.fabric.PandoException;
import pando.fabric.base.Owner;
import pando.fabric.mapped.MemoryServerLink;

/**
 * Watches the memory servers of one fabric, and declares a memory server lost when it has ended.
 *
 * <p>Checks its lock, which also an orderly end releases, and its process, as a killed process
 * keeps its locks until all its memory is unmapped.
 */
final class LossMonitor implements Runnable {
  private static final long PERIOD_MILLIS = 200;

  private final Registry registry;
  private final List<Watched> watched = new ArrayList<>();
  private final CountDownLatch stopped = new CountDownLatch(1);

  private record Watched(String name, long owner, MemoryServerLink link) {}

  LossMonitor(Registry registry) {
    this.registry = registry;
  }

  /** Adds a memory server, before the monitor runs. */
  void watch(String name, long owner, MemoryServerLink link) {
    watched.add(new Watched(name, owner, link));
  }

  /** Runs the monitor in a thread of its own. */
  Thread start() {
    return Thread.ofPlatform().name("pando-loss-monitor").daemon().start(this);
  }

  /** Stops the monitor; does not wait for its end. */
  void stop() {
    stopped.countDown();
  }

  @Override
  public void run() {
    try {
      while (!stopped.await(PERIOD_MILLIS, TimeUnit.MILLISECONDS)) {
        watched.forEach(this::check);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void check(Watched server) {
    if (server.link.isLost()) {
      return;
    }
    try {
      if (!Owner.isAlive(server.owner) || !registry.isRunning(server.name)) {
        server.link.declareLost(
            "its process ended: name=" + server.name + ", pid=" + Owner.pid(server.owner));
      }
    } catch (PandoException | UncheckedIOException tooManyOpenFiles) {
      // Its state is unknown this time; the next check is soon.
    }
  }
}
