package pando.fabric.verbs;

import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.server.CallFailedException;
import pando.fabric.wire.CardAccess;

/** Asks a memory server for a queue pair, over TCP. */
final class Asking {
  private static final int ATTEMPTS_MAX = 3;

  private Asking() {}

  /**
   * Asks; asking again replaces the queue pair that the memory server has made.
   *
   * @param asker whose memory takes a message
   * @param own queue pair that will be connected to the one asked for
   * @throws VerbsException if the memory server has no card, or refuses
   * @throws StalledException if the memory server does not answer
   * @throws pando.fabric.FencedException if this compute server is fenced
   * @throws pando.fabric.MemoryServerLostException if the memory server is lost
   */
  static Offer ask(Worker asker, int server, Endpoint own) {
    for (int attempt = 1; true; attempt++) {
      Offer.ask(own, asker.memory());
      try {
        int bytes = asker.call(server, CardAccess.FUNCTION, 0, Offer.REQUEST_BYTES);
        if (bytes != Offer.RESPONSE_BYTES) {
          throw new VerbsException(
              "not the answer to a request for a queue pair: server="
                  + server
                  + ", bytes="
                  + bytes);
        }
        return Offer.read(asker.memory());
      } catch (CallFailedException | IllegalArgumentException e) {
        throw new VerbsException("no queue pair: server=" + server + ", because=" + e.getMessage());
      } catch (UnknownOutcomeException e) {
        if (attempt == ATTEMPTS_MAX) {
          throw new StalledException("no queue pair: server=" + server + ", because=" + e);
        }
      }
    }
  }
}
