package pando.fabric.verbs;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;

/**
 * The ways of a worker that shares none: a completion queue of its own, which it polls, and a queue
 * pair to each memory server. A closed worker leaves them to the next one. Not thread-safe.
 */
final class OwnLinks implements Links, AutoCloseable {
  /** After so long a wait, the memory server of a CALL is probed, and so on. */
  private static final long PROBE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Verbs of a queue pair under way: a chain, behind the WRITE that has probed for a CALL. */
  private static final int DEPTH = Chain.MAX + 1;

  /** How long a broken queue pair has to flush what is under way. */
  static final long FLUSH_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final VerbsFabric owner;
  private final CompletionQueue completions;
  private final Link[] links;
  private long nextNumber = 1;

  /**
   * Creates them, not connected.
   *
   * @param owner when it is closed, what is under way ends
   * @param control by which queue pairs are connected
   * @param lost of all workers of the fabric
   */
  OwnLinks(VerbsFabric owner, Device device, Fabric control, LostServers lost) {
    this.owner = owner;
    this.links = new Link[control.memoryServers()];
    this.completions = new CompletionQueue(device, Chain.COMPLETIONS_MAX * links.length);
    for (int i = 0; i < links.length; i++) {
      links[i] = new Link(device, completions, DEPTH, control, lost, i);
    }
  }

  @Override
  public Link to(int server) {
    return links[server];
  }

  @Override
  public void exchange(Chain[] chains, int count, long nanosMax, Backoff backoff) {
    try {
      post(chains, count);
      if (Thread.currentThread().isVirtual()) {
        // Others go on even if all verbs of this one complete at once.
        backoff.pause(0);
      }
      // A card in software is often done when it has taken the verbs.
      poll(chains, count);
      if (isUnderWay(chains, count)) {
        await(chains, count, nanosMax, backoff);
      }
    } finally {
      // Also where this fails: the card must not write to local memory when the caller goes on.
      closeBroken(chains, count);
    }
  }

  private void post(Chain[] chains, int count) {
    for (int i = 0; i < count; i++) {
      chains[i].start(nextNumber);
      nextNumber += Chain.MAX;
    }
    for (int i = 0; i < count; i++) {
      chains[i].post();
    }
  }

  private void await(Chain[] chains, int count, long nanosMax, Backoff backoff) {
    long start = System.nanoTime();
    long deadline = start + nanosMax;
    long nextProbe = start + PROBE_NANOS;
    boolean broken = false;
    for (int attempt = 0; isUnderWay(chains, count); attempt++) {
      if (poll(chains, count) > 0) {
        attempt = 0;
      } else if (System.nanoTime() - deadline > 0 || (owner.isClosed() && !broken)) {
        breakUp(chains, count, broken);
        broken = true;
        deadline = System.nanoTime() + FLUSH_NANOS_MAX;
      } else {
        if (System.nanoTime() - nextProbe > 0) {
          chains[0].probe();
          nextProbe = System.nanoTime() + PROBE_NANOS;
        }
        backoff.pause(attempt);
      }
    }
  }

  private static boolean isUnderWay(Chain[] chains, int count) {
    for (int i = 0; i < count; i++) {
      if (chains[i].isUnderWay()) {
        return true;
      }
    }
    return false;
  }

  private int poll(Chain[] chains, int count) {
    int completed = completions.poll();
    for (int i = 0; i < completed; i++) {
      for (int j = 0; j < count; j++) {
        if (chains[j].has(completions.number(i))) {
          chains[j].complete(completions, i);
        }
      }
    }
    return completed;
  }

  /**
   * Makes what is under way complete.
   *
   * @param again whether queue pairs were broken before, and have not flushed
   */
  private static void breakUp(Chain[] chains, int count, boolean again) {
    for (int i = 0; i < count; i++) {
      if (chains[i].isUnderWay() && again) {
        chains[i].giveUp();
      } else if (chains[i].isUnderWay()) {
        chains[i].connection().breakUp();
      }
    }
  }

  private void closeBroken(Chain[] chains, int count) {
    boolean some = false;
    for (int i = 0; i < count; i++) {
      if (chains[i].isUnderWay()) {
        chains[i].giveUp();
      }
      some |= chains[i].failure() != null;
    }
    if (some) {
      Closing.all(
          Arrays.stream(chains, 0, count)
              .filter(chain -> chain.failure() != null)
              .<Runnable>map(chain -> () -> close(chain.connection()))
              .toList());
    }
  }

  private void close(CardConnection broken) {
    links[broken.server()].giveUp(broken);
    broken.close();
  }

  @Override
  public void close() {
    // In this order, and none if one before it failed: what the card still uses is not freed.
    for (Link link : links) {
      link.close();
    }
    completions.close();
  }
}
