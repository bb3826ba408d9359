package pando.index.host;

import java.util.List;
import java.util.function.Consumer;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.Worker;
import pando.index.session.Failures;
import pando.index.session.Gate;

/**
 * Compute servers that are kept quiet until this is closed: no operation and no background task is
 * under way there.
 */
final class Quiet<S extends HostedServer> implements AutoCloseable {
  private final List<S> servers;
  private final List<Gate> gates;

  /**
   * Shuts gates, and pauses the compute servers behind them.
   *
   * @throws IllegalStateException if the index is closed
   * @throws pando.fabric.StalledException if an operation, or another change, does not end
   */
  Quiet(Members<S, ?> members, List<Gate> gates, Worker worker) {
    this.servers = members.behind(gates);
    this.gates = gates;
    Members.shut(gates, gate -> gate.shut(worker));
    boolean paused = false;
    try {
      servers.forEach(server -> server.pause(worker.backoff()));
      paused = true;
    } finally {
      if (!paused) {
        close();
      }
    }
  }

  /** Writes back what {@link HostedServer#settle} does: all that can be written. */
  void flush() {
    PandoException failure = null;
    for (S server : servers) {
      try {
        server.settle();
      } catch (PandoException e) {
        failure = failure == null || failure instanceof MemoryServerLostException ? e : failure;
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** As {@link #flush}; then drops what must not outlast a change, unless something is left. */
  void empty() {
    flush();
    servers.forEach(HostedServer::clear);
  }

  /** Resumes background tasks, and opens the gates. */
  @Override
  public void close() {
    try {
      servers.forEach(HostedServer::resume);
    } finally {
      gates.forEach(Gate::open);
    }
  }

  /** Resumes them, too, after a step for some of them; all steps are taken even if one fails. */
  void closeAfter(List<S> some, Consumer<S> step) {
    Failures failures = new Failures();
    some.forEach(server -> failures.collect(() -> step.accept(server)));
    failures.collect(this::close);
    failures.rethrow();
  }
}
