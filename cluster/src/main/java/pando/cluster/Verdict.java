package pando.cluster;

import java.util.function.Supplier;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Partitioning;

/**
 * What has become of a change that was tried: the partition table in the pool decides, whatever the
 * attempt returned or threw, and by any executor. What is in the table is done; what is not was
 * undone, or will be ignored, so it has failed. Only a fence waits: nobody serves the keys until it
 * is done.
 */
final class Verdict {
  private Verdict() {}

  /**
   * Returns a change as it has ended; of a fence that could not be made, as it waits.
   *
   * @param table reads the one in the pool
   * @param why it was not made, if it was not
   * @throws FencedException if this compute server is fenced: others look
   * @throws SessionLostException if its session has ended
   * @throws CoordinatorLostException if the coordinator does not answer
   * @throws UnknownOutcomeException if the pool does not answer, and it is no fence: look again
   */
  static Change of(Change change, Supplier<Partitioning> table, String why) {
    try {
      return change.isIn(table.get()) ? change.done() : unmade(change, why);
    } catch (FencedException | SessionLostException | CoordinatorLostException e) {
      throw e;
    } catch (PandoException e) {
      if (e instanceof UnknownOutcomeException && !change.isFence()) {
        throw e;
      }
      return unmade(change, why + "; what came of it is not known: " + e.getMessage());
    }
  }

  private static Change unmade(Change change, String why) {
    return change.isFence() ? change.waiting(why) : change.failed(why);
  }
}
