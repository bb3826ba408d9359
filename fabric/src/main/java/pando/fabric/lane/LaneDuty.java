package pando.fabric.lane;

import java.nio.channels.SelectionKey;

/**
 * What the thread of a lane does itself in each pass, beside carrying threads and completing verbs:
 * to serve sockets, for example, which it registers with {@link LaneLoop#selector}.
 */
public interface LaneDuty {
  /**
   * Does what there is to do without waiting. Called by the lane's own thread, once a pass and at
   * least once a second.
   *
   * @param waitsNext whether the lane waits next, unless this makes a thread ready: {@link #serve}
   *     then gets the sockets that are ready, and need not be looked for here
   * @return whether there was anything
   */
  boolean perform(boolean waitsNext);

  /**
   * Serves a socket that is ready. Called by the lane's own thread, for each key of its selector
   * that has an attachment of this duty or another.
   */
  void serve(SelectionKey ready);

  /**
   * Returns whether there is something to do that came by no socket, so that the lane does not wait
   * now. Whatever makes it so calls {@link LaneLoop#wakeUp} afterwards.
   */
  boolean isDue();
}
