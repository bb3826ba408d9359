package pando.durable.holder;

import static pando.durable.holder.LogFrame.INT;
import static pando.durable.holder.LogFrame.LONG;

import java.lang.foreign.MemorySegment;
import pando.fabric.ComputeServer;

/**
 * What a holder says of a log that it has.
 *
 * <pre>
 *  0        4       8       16     24     32     40      48
 * +--------+-------+-------+------+------+------+-------+
 * | writer | force | epoch | head | kept | end  | began |
 * +--------+-------+-------+------+------+------+-------+
 * </pre>
 *
 * @param log whose it is: that of one start of a compute server
 * @param force a bit for each holder that must have a change before it is acknowledged
 * @param head place before which all is in the pool
 * @param kept place up to which the holder has all
 * @param end where the log ends, {@link #OPEN} if it has not ended
 * @param began the logs that had begun before
 */
record LogCopy(ComputeServer log, int force, long head, long kept, long end, long began) {
  /** In place of an end. */
  static final long OPEN = -1;

  boolean hasEnded() {
    return end != OPEN;
  }

  void write(MemorySegment to, long at) {
    to.set(INT, at, log.number());
    to.set(INT, at + 4, force);
    to.set(LONG, at + 8, log.epoch());
    to.set(LONG, at + 16, head);
    to.set(LONG, at + 24, kept);
    to.set(LONG, at + 32, end);
    to.set(LONG, at + 40, began);
  }

  static LogCopy read(MemorySegment from, long at) {
    return new LogCopy(
        new ComputeServer(from.get(INT, at), from.get(LONG, at + 8)),
        from.get(INT, at + 4),
        from.get(LONG, at + 16),
        from.get(LONG, at + 24),
        from.get(LONG, at + 32),
        from.get(LONG, at + 40));
  }
}
