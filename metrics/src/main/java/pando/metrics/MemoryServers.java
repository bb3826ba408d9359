package pando.metrics;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.StalledException;

/**
 * Asks memory servers for their use, and waits for no longer than a second. Each is asked in a
 * thread of its own, one question at a time: a memory server that does not answer takes one thread,
 * until the fabric gives up. An answer holds for a second. Thread-safe.
 */
final class MemoryServers {
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(1);

  private final List<MemoryServer> servers;

  MemoryServers(Fabric fabric) {
    servers =
        IntStream.range(0, fabric.memoryServers())
            .mapToObj(number -> new MemoryServer(fabric, number))
            .toList();
  }

  /**
   * Returns a memory server's use of its pool. Asks all at once, so that a caller that asks for
   * each in turn waits for a second in all.
   *
   * @throws StalledException if it does not answer within a second
   * @throws pando.fabric.PandoException if it is lost
   * @throws IllegalStateException if the fabric is closed
   */
  PoolUsage usage(int server) {
    return questions().get(server).answer();
  }

  /** Asks all at once; returns what keeps any from answering, one line each. */
  List<String> silent() {
    List<String> reasons = new ArrayList<>();
    for (Question question : questions()) {
      try {
        question.answer();
      } catch (RuntimeException e) {
        reasons.add("memory server " + question.server + ": " + e.getMessage());
      }
    }
    return reasons;
  }

  private List<Question> questions() {
    return servers.stream().map(MemoryServer::question).toList();
  }

  private static final class MemoryServer {
    private final Fabric fabric;
    private final int number;
    private @Nullable Question last;

    MemoryServer(Fabric fabric, int number) {
      this.fabric = fabric;
      this.number = number;
    }

    synchronized Question question() {
      Question question = last;
      if (question == null || question.isOver()) {
        question = new Question(fabric, number);
        last = question;
      }
      return question;
    }
  }

  private static final class Question {
    final int server;
    private final long asked = System.nanoTime();
    private final CompletableFuture<PoolUsage> answer;

    Question(Fabric fabric, int server) {
      this.server = server;
      this.answer =
          CompletableFuture.supplyAsync(
              () -> fabric.usage(server), Thread.ofVirtual().name("pando-usage-" + server)::start);
    }

    boolean isOver() {
      return answer.isDone() && age() > WAIT_NANOS_MAX;
    }

    private long age() {
      return System.nanoTime() - asked;
    }

    PoolUsage answer() {
      try {
        return answer.get(WAIT_NANOS_MAX - age(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        throw e.getCause() instanceof RuntimeException failure
            ? failure
            : new IllegalStateException("asking a memory server failed: server=" + server, e);
      } catch (TimeoutException e) {
        throw new StalledException("no answer: server=" + server + ", waitedNanos=" + age());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while asking: server=" + server, e);
      }
    }
  }
}
