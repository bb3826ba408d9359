package pando.index.host;

import java.util.function.IntPredicate;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.IndexOptions;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;
import pando.index.session.Retry;

/**
 * The epochs of all compute servers, in the catalogue, as one thread reads and writes them.
 *
 * <pre>
 *   for each compute server, 8 bytes: 0 if it is away, or
 *    63          20    19    18        0
 *   +--------------+-------+------------+
 *   | process      | waits | epoch      |     waits: whether freed places rest there
 *   +--------------+-------+------------+
 * </pre>
 *
 * <p>Epochs wrap. A compute server writes its own word alone.
 */
final class EpochTable extends WorkerContext {
  /** Bits of an epoch. */
  static final int EPOCH_BITS = Long.SIZE - Fabric.PROCESS_BITS - 1;

  private static final int SERVERS = IndexOptions.COMPUTE_SERVERS_MAX;
  private static final int BYTES = SERVERS * Long.BYTES;
  private static final long EPOCH_MASK = (1L << EPOCH_BITS) - 1;
  private static final long WAITS = 1L << EPOCH_BITS;
  private static final int PROCESS_SHIFT = EPOCH_BITS + 1;

  private final Fabric fabric;

  /** Local offset of the words as they were READ last. */
  private final long words;

  /** Local offset of a word to write. */
  private final long own;

  EpochTable(Fabric fabric) {
    LocalMemory local = new LocalMemory();
    this.words = local.region(BYTES);
    this.own = local.region(Long.BYTES);
    super(fabric, local);
    this.fabric = fabric;
  }

  /** READs all words. After that no WRITE of this worker takes effect that was posted before. */
  void look() {
    worker.read(Catalogue.EPOCHS, words, BYTES);
  }

  /** Returns a copy of the words at the last look. */
  long[] copy() {
    long[] copy = new long[SERVERS];
    for (int number = 0; number < SERVERS; number++) {
      copy[number] = word(number);
    }
    return copy;
  }

  /**
   * Returns whether freed places rested at any compute server at the last look, so that all should
   * move on.
   */
  boolean isAnyWaiting() {
    boolean any = false;
    for (int number = 0; number < SERVERS; number++) {
      long word = word(number);
      any |= (word & WAITS) != 0 && !isGone(word);
    }
    return any;
  }

  /**
   * Returns whether no operation is under way any more, at the last look, that was so when other
   * words were READ.
   *
   * @param before the words then
   * @param moves times that an epoch must have moved on
   * @param except the numbers of compute servers that do not count
   */
  boolean hasMovedOnSince(long[] before, int moves, IntPredicate except) {
    boolean moved = true;
    for (int number = 0; number < SERVERS; number++) {
      long then = before[number];
      moved &= then == 0 || except.test(number) || hasMovedOn(then, word(number), moves);
    }
    return moved;
  }

  private boolean hasMovedOn(long then, long now, int moves) {
    return process(now) != process(then) || ((now - then) & EPOCH_MASK) >= moves || isGone(then);
  }

  private boolean isGone(long word) {
    long process = process(word);
    return process != fabric.process() && fabric.isGone(process);
  }

  private static long process(long word) {
    return word >>> PROCESS_SHIFT;
  }

  private long word(int number) {
    return Words.get(memory, words + (long) number * Long.BYTES);
  }

  /** Returns the word of a compute server of this process. */
  long wordOf(long epoch, boolean waits) {
    return fabric.process() << PROCESS_SHIFT | (waits ? WAITS : 0) | (epoch & EPOCH_MASK);
  }

  /** WRITEs the word of a compute server. */
  void write(int number, long word) {
    Words.set(memory, own, word);
    worker.write(addressOf(number), own, Long.BYTES);
  }

  /** Joins with a word, or leaves with 0. */
  void writeUntilDone(int number, long word) {
    Retry.untilDone(worker, () -> write(number, word));
  }

  /** Leaves. Does nothing where nobody can see the word, or it counts as that of one gone. */
  void leave(int number) {
    try {
      writeUntilDone(number, 0);
    } catch (MemoryServerLostException | FencedException _) {
      return;
    }
  }

  /** Marks a compute server that is lost and fenced as away. */
  static void bury(PoolChange change, int number) {
    Worker worker = change.worker();
    Words.set(worker.memory(), change.message(), 0);
    Retry.untilDone(worker, () -> worker.write(addressOf(number), change.message(), Long.BYTES));
  }

  private static long addressOf(int number) {
    return Catalogue.EPOCHS + (long) number * Long.BYTES;
  }

  /** Does nothing: what it writes is no lock. */
  @Override
  public void abandon(Throwable failure) {}
}
