package pando.cluster;

import java.util.function.Supplier;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.Partitioning;

/**
 * What has become of a change that was tried: the partition table in the pool decides, whatever the
 * attempt returned or threw, and by any executor. What is in the table is done; what is not was
 * undone, or will be ignored, so it has failed. A change waits while the pool does not answer, and
 * a fence until it is done, as nobody serves the keys before.
 */
final class Verdict {
  private Verdict() {}

  /**
   * Returns a change as it has ended, or as it waits.
   *
   * @param table reads the one in the pool
   * @param why it was not made, if it was not
   * @throws FencedException if this compute server is fenced: others look
   * @throws SessionLostException if its session has ended
   * @throws CoordinatorLostException if the coordinator does not answer
   */
  static Change of(Change change, Supplier<Partitioning> table, String why) {
    try {
      return change.isIn(table.get()) ? change.done() : unmade(change, why);
    } catch (FencedException | SessionLostException | CoordinatorLostException e) {
      throw e;
    } catch (StalledException | UnknownOutcomeException e) {
      return change.waiting(unclear(why, e));
    } catch (PandoException e) {
      return unmade(change, unclear(why, e));
    }
  }

  private static String unclear(String why, PandoException e) {
    return why + "; what came of it is not known: " + e.getMessage();
  }

  private static Change unmade(Change change, String why) {
    return change.isFence() ? change.waiting(why) : change.failed(why);
  }
}
