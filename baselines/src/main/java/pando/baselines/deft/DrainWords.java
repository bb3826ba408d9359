package pando.baselines.deft;

import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.IndexOptions;
import pando.index.host.LocalMemory;
import pando.index.host.WorkerContext;
import pando.index.pool.Catalogue;
import pando.index.session.Retry;

/**
 * The words in the catalogue by which DEFT's processes agree to reset locks, as one thread reads
 * and writes them.
 *
 * <pre>
 *    0  asked   where locks are to be reset: 0 nowhere, memory server + 1, 65,535 everywhere, or
 *               131,071 everywhere after nodes are mended that a lost process left half changed
 *    8  drain   round 32 | where 24 | state 8: 0 it has ended, 1 it is under way, 2 it was given up
 *   64  joined  for each compute server: 0, or its process 44 | the last round it was quiet in 20
 * </pre>
 *
 * <p>Rounds count from 1 to 2^20 - 2 and begin anew; 2^20 - 1 is said by a process that is never
 * quiet again. A process writes the words of all its compute servers together.
 */
final class DrainWords extends WorkerContext {
  /** No memory server. */
  static final int NOWHERE = 0;

  /** All memory servers. */
  static final int EVERYWHERE = 0xFFFF;

  /**
   * All memory servers, once the burial has repaired the nodes that lost compute servers left half
   * changed.
   */
  static final int WITH_BURIAL = 0x1_FFFF;

  private static final long ASKED = Catalogue.DRAINS;
  private static final long DRAIN = ASKED + Long.BYTES;
  private static final long JOINED = ASKED + 64;
  private static final int JOINED_BYTES = IndexOptions.COMPUTE_SERVERS_MAX * Long.BYTES;

  private static final int ENDED = 0;
  private static final int UNDER_WAY = 1;
  private static final int GIVEN_UP = 2;
  private static final int WHERE_SHIFT = 8;
  private static final int STATE_MASK = (1 << WHERE_SHIFT) - 1;
  private static final int WHERE_MASK = 0xFF_FFFF;
  private static final int ROUND_BITS = Long.SIZE - Fabric.PROCESS_BITS;
  private static final int ROUND_MASK = (1 << ROUND_BITS) - 1;

  /** In place of a round: the process is never quiet. */
  private static final int REFUSED = ROUND_MASK;

  private static final int ROUND_MAX = REFUSED - 1;

  /** WRITEs that are posted together. */
  private static final int TOGETHER = 16;

  /** Local offset of the operands of locks. */
  final long locks;

  private final Fabric fabric;
  private final VerbList list = new VerbList();

  /** Local offset of a copy of the words asked and drain. */
  private final long copy;

  /** Local offset of words to write, and of those of all compute servers. */
  private final long words;

  DrainWords(Fabric fabric) {
    LocalMemory local = new LocalMemory();
    this.copy = local.region(2L * Long.BYTES);
    this.words = local.region(JOINED_BYTES);
    this.locks = local.region(DeftNodeLocks.SCRATCH_BYTES);
    super(fabric, local);
    this.fabric = fabric;
  }

  // Where locks are reset.

  /** Returns where a memory server is. */
  static int at(int server) {
    return server + 1;
  }

  /** Returns where both of two are; that of more than one memory server is everywhere. */
  static int both(int one, int other) {
    if (one == NOWHERE || one == other) {
      return other;
    }
    return other == NOWHERE ? one : Math.max(EVERYWHERE, Math.max(one, other));
  }

  /** Returns whether a memory server is there. */
  static boolean includes(int where, int server) {
    return where >= EVERYWHERE || where == at(server);
  }

  // The words asked and drain.

  /**
   * Returns whether any locks are to be reset, and that was not given up.
   *
   * @param local offset of 16 bytes of the worker's local memory
   */
  static boolean areToBeReset(Worker worker, long local) {
    worker.read(ASKED, local, 2 * Long.BYTES);
    return Words.get(worker.memory(), local) != NOWHERE
        && !isGivenUp(Words.get(worker.memory(), local + Long.BYTES));
  }

  /** READs both words. */
  void look() {
    worker.read(ASKED, copy, 2 * Long.BYTES);
  }

  /** Returns where locks were to be reset at the last look. */
  int asked() {
    return (int) Words.get(memory, copy);
  }

  /** Returns the round of the drain at the last look. */
  int round() {
    return (int) (drain() >>> Integer.SIZE);
  }

  /** Returns where the drain at the last look resets locks. */
  int where() {
    return (int) drain() >>> WHERE_SHIFT & WHERE_MASK;
  }

  /** Returns whether a drain was under way at the last look. */
  boolean isUnderWay() {
    return (drain() & STATE_MASK) == UNDER_WAY;
  }

  /** Returns whether the last drain was given up. */
  boolean isGivenUp() {
    return isGivenUp(drain());
  }

  /**
   * Returns whether a lost process was to be buried at the last look, and that was not given up.
   */
  boolean isBurialAsked() {
    return asked() == WITH_BURIAL && !(isGivenUp() && where() == WITH_BURIAL);
  }

  private static boolean isGivenUp(long drain) {
    return (drain & STATE_MASK) == GIVEN_UP;
  }

  private long drain() {
    return Words.get(memory, copy + Long.BYTES);
  }

  /** Asks for locks to be reset. Can be repeated. */
  void ask(int where) {
    while (true) {
      look();
      int found = asked();
      int wanted = both(found, where);
      if (found == wanted || worker.cas(ASKED, found, wanted) == found) {
        return;
      }
    }
  }

  // For the one process that leads a drain.

  /** Begins the next round, where locks are to be reset. */
  void begin() {
    writeDrain(nextRound(), asked(), UNDER_WAY);
  }

  /** Gives the next round up in place of beginning it: all see that waiting is of no use. */
  void giveUpNext() {
    writeDrain(nextRound(), asked(), GIVEN_UP);
  }

  private int nextRound() {
    return round() % ROUND_MAX + 1;
  }

  /** Gives the round up. It is still asked for. */
  void giveUp() {
    writeDrain(round(), where(), GIVEN_UP);
  }

  /**
   * Resets the locks while all processes are quiet, and ends the round. What was asked for is done;
   * if more was asked since, all of it is asked still.
   */
  void resetAndEnd() {
    int where = where();
    for (int server = 0; server < fabric.memoryServers(); server++) {
      if (includes(where, server)) {
        reset(server);
      }
    }
    // After the end, others may ask again.
    Retry.untilDone(worker, () -> worker.cas(ASKED, where, NOWHERE));
    writeDrain(round(), where, ENDED);
  }

  private void writeDrain(int round, int where, int state) {
    long drain = (long) round << Integer.SIZE | (long) where << WHERE_SHIFT | state;
    Words.set(memory, words, drain);
    Retry.untilDone(worker, () -> worker.write(DRAIN, words, Long.BYTES));
  }

  /** WRITEs zeros over all lock words of a memory server. The buffer for CALLs has nothing else. */
  private void reset(int server) {
    int bytes = fabric.capabilities().onChipBytes();
    list.clear();
    for (int offset = 0; offset < bytes; offset += Worker.CALL_BYTES_MAX) {
      int length = Math.min(bytes - offset, Worker.CALL_BYTES_MAX);
      list.write(GlobalAddress.onChip(server, offset), message, length);
      if (list.size() == TOGETHER || offset + length == bytes) {
        Retry.untilDone(worker, () -> worker.post(list));
        list.clear();
      }
    }
  }

  // The words of processes.

  /** READs the words of all processes. */
  void lookAtJoined() {
    worker.read(JOINED, words, JOINED_BYTES);
  }

  /** Returns whether each process that had joined at the last look said that it was quiet. */
  boolean areAllQuiet() {
    boolean all = true;
    for (int number = 0; number < IndexOptions.COMPUTE_SERVERS_MAX; number++) {
      all &= isAway(number) || isQuiet(number, round());
    }
    return all;
  }

  /** Returns whether one that was not quiet is gone, or has refused. */
  boolean isInVain() {
    return isInVain(round());
  }

  /** As {@link #isInVain}, of the round that has not begun. */
  boolean isNextInVain() {
    return isInVain(nextRound());
  }

  private boolean isInVain(int round) {
    boolean inVain = false;
    for (int number = 0; number < IndexOptions.COMPUTE_SERVERS_MAX; number++) {
      long word = joinedWord(number);
      inVain |= (word & ROUND_MASK) == REFUSED;
      inVain |= !isAway(number) && !isQuiet(number, round) && fabric.isGone(word >>> ROUND_BITS);
    }
    return inVain;
  }

  private boolean isAway(int number) {
    return joinedWord(number) == 0;
  }

  private boolean isQuiet(int number, int round) {
    return (joinedWord(number) & ROUND_MASK) == round;
  }

  private long joinedWord(int number) {
    return Words.get(memory, words + (long) number * Long.BYTES);
  }

  /**
   * Joins: is not quiet in any round yet. The caller has the lock of the partition table, so nobody
   * leads one.
   */
  void join(int first, int count) {
    write(first, count, fabric.process() << ROUND_BITS);
  }

  /**
   * Asks for what is left to do where a compute server is lost, unless it had left. The caller has
   * the lock of the partition table.
   */
  void bury(int number) {
    lookAtJoined();
    if (!isAway(number)) {
      // Before others are written, which are laid out in the same place.
      long process = joinedWord(number) >>> ROUND_BITS;
      checkIsGone(number, process);
      ask(WITH_BURIAL);
      // One that is under way would not mend nodes, and one that was given up need not wait.
      writeDrain(round(), where(), ENDED);
      leaveAllOf(process);
    }
  }

  /** One that lives goes on to change what is taken for lost, as when it is a successor. */
  private void checkIsGone(int number, long process) {
    boolean isOwn = process == fabric.process() || isEarlierStart(process);
    if (!isOwn && !fabric.isGone(process)) {
      throw new IllegalStateException(
          "fence the process of the compute server by this fabric before it is buried:"
              + " computeServer=%s, process=%s".formatted(number, process));
    }
  }

  /** A process that starts again is fenced before. */
  private boolean isEarlierStart(long process) {
    long own = fabric.process();
    return fabric.capabilities().fences()
        && ComputeServer.numberOf(process) == ComputeServer.numberOf(own)
        && ComputeServer.epochOf(process) < ComputeServer.epochOf(own);
  }

  /** The process is lost as a whole. */
  private void leaveAllOf(long process) {
    for (int number = 0; number < IndexOptions.COMPUTE_SERVERS_MAX; number++) {
      lookAtJoined();
      if (joinedWord(number) >>> ROUND_BITS == process) {
        leave(number, 1);
      }
    }
  }

  /** Says that the process is quiet in a round. */
  void sayQuiet(int first, int count, int round) {
    write(first, count, fabric.process() << ROUND_BITS | round);
  }

  /** Says that the process will never be quiet. */
  void sayRefused(int first, int count) {
    write(first, count, fabric.process() << ROUND_BITS | REFUSED);
  }

  /** Says that the process has left, and is not waited for. */
  void leave(int first, int count) {
    write(first, count, 0);
  }

  private void write(int first, int count, long word) {
    for (int i = 0; i < count; i++) {
      Words.set(memory, words + (long) i * Long.BYTES, word);
    }
    long remote = JOINED + (long) first * Long.BYTES;
    Retry.untilDone(worker, () -> worker.write(remote, words, count * Long.BYTES));
  }

  /** Does nothing: what it writes is no lock. */
  @Override
  public void abandon(Throwable failure) {}
}
