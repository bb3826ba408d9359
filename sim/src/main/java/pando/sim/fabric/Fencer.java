package pando.sim.fabric;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import pando.fabric.FenceFailedException;
import pando.fabric.PandoException;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/** Fences compute servers at all memory servers, one after the other, as an admin does. */
public final class Fencer {
  private static final int FUNCTION = 0;
  private static final int REQUEST_BYTES = 16;

  private final SimPool pool;
  private final Simulation simulation;
  private final int computeServer;
  private final int[] incarnations;

  /**
   * Creates it.
   *
   * @param computeServer whose card the fences leave by
   * @param incarnations of the memory servers that they go to
   */
  public Fencer(SimPool pool, Simulation simulation, int computeServer, int[] incarnations) {
    this.pool = pool;
    this.simulation = simulation;
    this.computeServer = computeServer;
    this.incarnations = incarnations;
  }

  /** Fences a compute server, see {@link pando.fabric.Fabric#fence}. */
  void fence(int number, long leastEpoch) {
    Messages messages = new Messages(pool.network(), null, null, computeServer, incarnations);
    BitSet fenced = new BitSet();
    List<PandoException> causes = new ArrayList<>();
    for (int server = 0; server < incarnations.length; server++) {
      try {
        fence(messages, server, number, leastEpoch);
        fenced.set(server);
      } catch (PandoException e) {
        causes.add(e);
      }
    }
    if (!causes.isEmpty()) {
      FenceFailedException failed =
          new FenceFailedException(
              "not fenced at all memory servers: computeServer="
                  + number
                  + ", leastEpoch="
                  + leastEpoch,
              fenced);
      causes.forEach(failed::addSuppressed);
      throw failed;
    }
  }

  /** Asks a memory server until it says that all it has begun is done. */
  private void fence(Messages messages, int server, int number, long leastEpoch) {
    do {
      messages
          .get(0)
          .call(server, FUNCTION, REQUEST_BYTES, () -> serve(server, number, leastEpoch));
      Client client = simulation.running();
      if (client == null) {
        messages.applyNow(1);
      } else {
        messages.post(client, 1);
      }
      messages.checkAnswered(1);
    } while (messages.get(0).result() == 0);
  }

  /** Returns the length of the answer, 0 if it is not one yet. */
  private int serve(int server, int number, long leastEpoch) {
    pool.processors().checkOpen(server);
    return pool.network().leastEpochs().raise(server, number, leastEpoch) ? Long.BYTES : 0;
  }
}
