package pando.baselines.deft;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.memory.Closing;
import pando.index.bugs.PlantedBug;
import pando.index.host.HostedTask;
import pando.index.pool.PoolChange;
import pando.index.session.Gate;
import pando.index.session.Retry;

/**
 * Takes part in drains for the compute servers of a process, and leads one if nobody else does. The
 * process joins before its first operation, and leaves after its last one.
 */
final class Drainer extends HostedTask<DrainWords, SxLocks> {
  /*
   * A word of an SX lock counts tickets, and does not say whose they are. A ticket that nobody can
   * release keeps all later ones waiting: one that was taken or released by an FAA of unknown
   * outcome, or that belonged to a process that died. It cannot be taken out of the word. So a
   * drain resets all words of a memory server while no session has a ticket there:
   *
   *   1. A session asks. The task of its process writes that into the word `asked` (DrainWords).
   *   2. One of the tasks that read this takes the lock of the partition table, and leads. It
   *      begins a round: `drain` says where. Meanwhile no process joins.
   *   3. The task of each process reads that, and shuts its gate for rest. Sessions whose ticket has
   *      its turn end their operation. No session waits for a lock while it holds one; those that
   *      wait abandon their ticket and rest. When all are outside or rest, the task forgets the
   *      abandoned tickets that are to be reset, and says in its word that the process is quiet.
   *   4. When all that have joined are quiet, the one that leads WRITEs zeros over the lock words.
   *      It clears `asked`, and then ends the round.
   *   5. The tasks read that, and open their gates. Sessions that rested take new tickets.
   *
   * A task also releases abandoned tickets whose turn has come, should no session of its process do
   * so. It reads the words ten times a second, and at once if a session of its process asks, or has
   * waited for too long. Once it has shut the gate, it reads them all the time.
   *
   * Asks. A session asks inside the gate, and its task writes that into `asked` before it says that
   * the process is quiet. So what is asked when all are quiet is all. If it is more than the round
   * resets, it stays, and another round follows. Before it asks, a session READs by the same worker
   * (see SxLocks): so its FAA takes no effect later, behind the reset.
   *
   * The one that leads dies. The lock names its holder, and is taken over as soon as that is known
   * to be gone. The next one finds the round under way and goes on with it: nobody who was quiet
   * has opened a gate.
   *
   * Another one dies. It does not become quiet, so the round is given up, after a second or as soon
   * as it is known to be gone, and the gates open. It may have left nodes half changed. So its
   * locks stay until it is fenced and buried: by the next one that joins under its number, or on
   * request. The burial removes its word, and asks for a round that mends nodes (DeftBurial) before
   * it resets all locks. A process that joins so keeps its gate shut until then.
   *
   * A process refuses if one of its sessions keeps nodes locked that it could not write, or could
   * not make sure that a verb takes no effect later. It never becomes quiet, and says so; a round
   * that is under way is given up at once, and the next ones are before any gate is shut.
   *
   * A process that closes leaves when its sessions have ended: then its word is 0, and nobody waits
   * for it. If tickets of its sessions are left, it asks before it leaves.
   */

  private static final long LOOK_NANOS = 100_000_000;
  private static final long SOON_NANOS = 1_000_000;
  private static final long QUIET_NANOS_MAX = 1_000_000_000;
  private static final long AGAIN_NANOS = 5_000_000_000L;

  /** Looks until a round is given up: at least so many, as clocks may jump. */
  private static final int LOOKS_MIN = 1_000;

  private static final int NONE = 0;
  private static final long NO_WAIT = 0;

  private final DeftServer server;
  private final Fabric fabric;
  private final Drains drains;
  private final Supplier<Gate> gate;
  private final int first;
  private final int count;

  /** Set last, by the thread that joins; the task does nothing before. */
  private volatile boolean joined;

  // Of the task.

  /** Whether the gate is shut for rest. */
  private boolean shut;

  /** The round in which the process is quiet. */
  private int quietRound = NONE;

  /** Has the lock of the partition table, or tries to take it; {@code null} if neither. */
  private @Nullable PoolChange change;

  private boolean leads;

  /** Whether a round is under way that the process is not quiet in. */
  private boolean waits;

  private long leadsSince;
  private int looks;

  /** The round that was given up last, and when the task saw that. */
  private int givenUpRound = NONE;

  private long givenUpAt;

  /**
   * Creates a task for the compute servers of a process.
   *
   * @param server the first of them
   * @param gate returns the gate of all of them
   */
  Drainer(
      DeftServer server, Fabric fabric, Drains drains, int first, int count, Supplier<Gate> gate) {
    super(server, fabric, "pando-drainer-" + first, () -> new DrainWords(fabric));
    this.server = server;
    this.fabric = fabric;
    this.drains = drains;
    this.first = first;
    this.count = count;
    this.gate = gate;
    drains.onWake(this::wake);
  }

  /** Joins, if it has not. The caller has the lock of the partition table. */
  void join() {
    if (!joined) {
      try (DrainWords words = new DrainWords(fabric)) {
        words.join(first, count);
        words.look();
        // No operation here meets what a lost one left half done.
        shut = words.isBurialAsked() && gate.get().tryShutForRest();
        joined = true;
      }
      wake();
    }
  }

  /** Leaves, if it has joined: the task and all sessions have ended. */
  void leave() {
    // Another one goes on with a round that is under way.
    endLead();
    if (joined && !drains.areRefused()) {
      joined = false;
      try (DrainWords words = new DrainWords(fabric)) {
        drains.abandoned.setAside(DrainWords.EVERYWHERE);
        words.ask(DrainWords.both(drains.asked(), drains.abandoned.forgetAside()));
        words.leave(first, count);
      }
    }
  }

  @Override
  protected SxLocks open(DrainWords words) {
    return new SxLocks(server.locks, drains, NO_WAIT, words.worker, words.locks);
  }

  /** Goes on: a wake during the pause had no effect. */
  @Override
  public void resume() {
    super.resume();
    wake();
  }

  @Override
  protected boolean step() {
    if (!joined) {
      return false;
    }
    attempt(this::look);
    if (shut || leads) {
      context().worker.backoff().pause(looks++);
      return true;
    }
    looks = 0;
    wakeAfter(waits ? SOON_NANOS : LOOK_NANOS);
    return false;
  }

  private boolean look() {
    DrainWords words = context();
    try {
      if (!shut) {
        opened().settle();
      }
      sayAsked(words);
      words.look();
      takePart(words);
      lead(words);
      waits = words.isUnderWay();
      return true;
    } catch (PandoException e) {
      if (Retry.isFenced(e)) {
        // Nothing that sessions do here has an effect any more.
        Closing.after(e, this::open, this::endLead);
      }
      throw e;
    }
  }

  private void sayAsked(DrainWords words) {
    int asked = drains.asked();
    if (asked != DrainWords.NOWHERE) {
      words.ask(asked);
      drains.noteSaid(asked);
    }
  }

  // As one of those that have joined.

  private void takePart(DrainWords words) {
    noteGivenUp(words);
    if (drains.areRefused()) {
      words.sayRefused(first, count);
      // The one that leads may have read before that this process is quiet.
      if (!words.isUnderWay() || quietRound != words.round()) {
        open();
      }
      return;
    }
    endQuiet(words);
    if (!words.isUnderWay()) {
      if (!words.isBurialAsked()) {
        open();
      }
      return;
    }
    // While a change of the whole index has the gate shut, this fails, and is tried again.
    shut = shut || gate.get().tryShutForRest();
    int round = words.round();
    if (shut && isQuiet() && quietRound != round) {
      int where = words.where();
      // Sessions may have asked before they left the gate, or refused.
      sayAsked(words);
      if (!drains.areRefused()) {
        drains.abandoned.setAside(where);
        words.sayQuiet(first, count, round);
        quietRound = round;
      }
    }
  }

  /** Settles the tickets of the round that this process was quiet in, once that is over. */
  private void endQuiet(DrainWords words) {
    int round = words.round();
    if (quietRound == NONE || (quietRound == round && words.isUnderWay())) {
      return;
    }
    if (quietRound == round && words.isGivenUp()) {
      drains.abandoned.takeBack();
    } else {
      int where = drains.abandoned.forgetAside();
      if (quietRound != round && where != DrainWords.NOWHERE) {
        // Nobody knows here what became of it.
        words.ask(where);
      }
    }
    quietRound = NONE;
  }

  private boolean isQuiet() {
    return gate.get().isQuiet() || (PlantedBug.GATE_NOT_AWAITED && first == 0);
  }

  private void open() {
    if (shut) {
      gate.get().endRest();
      shut = false;
    }
  }

  private void noteGivenUp(DrainWords words) {
    if (words.isGivenUp() && givenUpRound != words.round()) {
      givenUpRound = words.round();
      givenUpAt = context().worker.nanoTime();
    }
  }

  // As the one that leads.

  private void lead(DrainWords words) {
    if (!leads) {
      boolean due = words.isUnderWay() || (words.asked() != DrainWords.NOWHERE && !rests(words));
      if (!due) {
        endLead();
        return;
      }
      if (!tryLead()) {
        return;
      }
      // Others may have led meanwhile.
      words.look();
    }
    if (words.isUnderWay()) {
      goOn(words, Objects.requireNonNull(change));
    } else if (words.asked() != DrainWords.NOWHERE) {
      begin(words);
    } else {
      endLead();
    }
  }

  private void begin(DrainWords words) {
    words.lookAtJoined();
    if (words.isNextInVain()) {
      words.giveUpNext();
      endLead();
    } else {
      words.begin();
    }
  }

  private boolean rests(DrainWords words) {
    long waited = context().worker.nanoTime() - givenUpAt;
    return words.isGivenUp()
        && words.where() == words.asked()
        && waited >= 0
        && waited < AGAIN_NANOS;
  }

  private boolean tryLead() {
    PoolChange taking = change;
    if (taking == null) {
      long bytes = DeftBurial.bytes(server);
      taking = new PoolChange(fabric, bytes, server.places, server.system, _ -> {});
      change = taking;
    }
    leads = taking.tryLock();
    leadsSince = taking.worker().nanoTime();
    looks = 0;
    return leads;
  }

  private void goOn(DrainWords words, PoolChange held) {
    words.lookAtJoined();
    // In this order: a round whose reset has begun is not given up.
    if (words.areAllQuiet()) {
      if (words.where() == DrainWords.WITH_BURIAL) {
        new DeftBurial(held, server).bury();
      }
      words.resetAndEnd();
      countDone();
      endLead();
    } else if (words.isInVain() || isLate()) {
      words.giveUp();
      endLead();
    }
  }

  private boolean isLate() {
    return looks > LOOKS_MIN && context().worker.nanoTime() - leadsSince > QUIET_NANOS_MAX;
  }

  private void endLead() {
    PoolChange held = change;
    change = null;
    leads = false;
    if (held != null) {
      held.close();
    }
  }
}
