package pando.sim.nic;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Kind;
import pando.fabric.server.CallHandler;
import pando.sim.fault.Fault;
import pando.sim.fault.Faults;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * Cards, wires and memory servers' processors.
 *
 * <p>A verb goes through the client's card, over the wire, through the memory server's card, takes
 * effect in memory, and its answer comes back the same way. Each stage is an event; between them
 * the message waits for what it needs, in order.
 */
public final class Network {
  private static final int LINE_BYTES = Message.ATOMICITY_BYTES;
  private static final int PARTS_MAX = 4;
  private static final long TEAR_NANOS_MAX = 3_000;
  private static final long DELAY_NANOS_MAX = 30_000;
  private static final long CUT_NANOS_MAX = 3_000_000;
  private static final long DOWN_NANOS = 5_000_000;
  private static final long PAUSE_NANOS_MAX = 5_000_000;

  private final Simulation simulation;
  private final Costs costs;
  private final Faults faults;
  private final RandomGenerator random;
  private final Nic[] clientNics;
  private final Nic[] serverNics;
  private final Resource[][] processors;
  private final MemoryServers memoryServers;
  private final long[] downUntil;
  private final long[][] cutUntil;

  /** What faults do to memory servers. */
  public interface MemoryServers {
    /** Clears all memory of a memory server. */
    void wipe(int server);

    /** Makes a memory server's pool seem full, or no longer. */
    void pretendFull(int server, boolean full);
  }

  /**
   * Connects servers.
   *
   * @param shared whether compute server i and memory server i share a card
   * @param processorThreads of each memory server
   */
  public Network(
      Simulation simulation,
      Costs costs,
      Faults faults,
      int computeServers,
      int memoryServers,
      boolean shared,
      int processorThreads,
      MemoryServers servers) {
    this.simulation = simulation;
    this.costs = costs;
    this.faults = faults;
    this.random = simulation.fork();
    this.memoryServers = servers;
    serverNics = new Nic[memoryServers];
    Arrays.setAll(serverNics, i -> new Nic(costs));
    clientNics = new Nic[computeServers];
    Arrays.setAll(clientNics, i -> shared && i < memoryServers ? serverNics[i] : new Nic(costs));
    processors = new Resource[memoryServers][processorThreads];
    for (Resource[] threads : processors) {
      Arrays.setAll(threads, i -> new Resource());
    }
    downUntil = new long[memoryServers];
    cutUntil = new long[computeServers][memoryServers];
  }

  /** Posts a message when the client's card gets to know of it. */
  public void post(Message message, long time) {
    message.stage = Message.Stage.AT_CLIENT;
    simulation.at(time, message);
  }

  /** Moves a message on by a stage. */
  void advance(Message message) {
    switch (message.stage) {
      case AT_CLIENT -> send(message);
      case AT_SERVER -> arrive(message);
      case IN_MEMORY -> takeEffect(message);
      case BEHIND_ATOMIC -> leaveBucket(message);
      case BACK -> comeBack(message);
      case DONE -> message.finish();
    }
  }

  private void next(Message message, Message.Stage stage, long time) {
    message.stage = stage;
    simulation.at(time, message);
  }

  private void send(Message message) {
    strike(message);
    Nic nic = clientNics[message.client];
    long sent = nic.out.serve(simulation.now(), costs.message(message.bytesOut));
    Lane lane = message.lane();
    lane.arrival = Math.max(lane.arrival + 1, sent + way());
    next(message, Message.Stage.AT_SERVER, lane.arrival);
  }

  private long way() {
    long jitter = costs.jitter == 0 ? 0 : random.nextLong(costs.jitter);
    long delay = faults.strikes(Fault.DELAY) ? faults.draw(DELAY_NANOS_MAX * Simulation.NANO) : 0;
    return costs.wire + jitter + delay;
  }

  private void strike(Message message) {
    int server = message.server;
    if (faults.strikes(Fault.PARTITION)) {
      cutUntil[message.client][server] =
          simulation.now() + faults.draw(CUT_NANOS_MAX * Simulation.NANO);
    }
    if (faults.strikesOnce(Fault.CRASH_MEMORY)) {
      downUntil[server] = simulation.now() + DOWN_NANOS * Simulation.NANO;
    }
    if (faults.strikesOnce(Fault.WIPE_MEMORY)) {
      downUntil[server] = simulation.now() + DOWN_NANOS * Simulation.NANO;
      memoryServers.wipe(server);
    }
  }

  private @Nullable String lostBecause(Message message) {
    if (simulation.now() < downUntil[message.server]) {
      return "it is down";
    }
    if (simulation.now() < cutUntil[message.client][message.server]) {
      return "the network is cut";
    }
    return null;
  }

  private void arrive(Message message) {
    Nic nic = serverNics[message.server];
    if (message.lane().held) {
      message.lane().behind.add(message);
    } else if (!nic.stalled.isEmpty() || !hasRoom(nic, message)) {
      nic.stalled.add(message);
    } else {
      accept(nic, message);
    }
  }

  private static boolean hasRoom(Nic nic, Message message) {
    return !message.isOnHost() || !nic.isTaken(message) || nic.mayPark();
  }

  /** Takes a message from the wire. */
  private void accept(Nic nic, Message message) {
    String because = lostBecause(message);
    if (because != null) {
      message.fail(
          new MemoryServerLostException(
              "memory server is lost: server=" + message.server + ", because=" + because));
      next(message, Message.Stage.DONE, simulation.now() + costs.timeout);
      return;
    }
    long taken = nic.in.serve(simulation.now(), costs.message(message.bytesOut));
    if (!message.isOnHost()) {
      next(message, Message.Stage.IN_MEMORY, inOrder(message, ready(nic, message, taken)));
      return;
    }
    message.lane().held = true;
    if (nic.isTaken(message)) {
      nic.park(message);
    } else {
      nic.take(message);
      next(message, Message.Stage.IN_MEMORY, inOrder(message, taken));
    }
  }

  private long inOrder(Message message, long time) {
    Lane lane = message.lane();
    lane.effect = Math.max(lane.effect + 1, time);
    return lane.effect;
  }

  /** Returns when a verb that waits for no bucket takes effect. */
  private long ready(Nic nic, Message message, long taken) {
    Kind kind = message.kind;
    if (kind == null) {
      return processed(message, taken + costs.completion);
    }
    return switch (kind) {
      case READ -> taken + costs.read;
      case WRITE -> taken + costs.write;
      default ->
          nic.onChipEffect(
              GlobalAddress.offset(message.remote),
              nic.onChip.serve(taken, costs.onChip),
              costs.onChipConflict);
    };
  }

  private long processed(Message message, long arrival) {
    Resource[] threads = processors[message.server];
    Resource free = threads[0];
    for (Resource thread : threads) {
      free = thread.freeAt() < free.freeAt() ? thread : free;
    }
    boolean space = message.function < CallHandler.FIRST_FUNCTION;
    long pause = faults.strikes(Fault.PAUSE) ? faults.draw(PAUSE_NANOS_MAX * Simulation.NANO) : 0;
    return free.serve(arrival, pause + (space ? costs.spaceCall : costs.call));
  }

  private void takeEffect(Message message) {
    if (message.lane().tornUntil > simulation.now()) {
      // What came before it on its lane lasts.
      simulation.at(inOrder(message, message.lane().tornUntil), message);
      return;
    }
    if (message.isOnHost()) {
      boolean stored = message.apply();
      long held = stored ? costs.atomicSuccess : costs.atomicFailure;
      next(message, Message.Stage.BEHIND_ATOMIC, simulation.now() + held);
      release(message.lane());
      return;
    }
    if (message.isLong() && faults.strikes(Fault.TORN)) {
      tear(message);
      return;
    }
    applyWith(message);
    answer(message, simulation.now());
  }

  private void applyWith(Message message) {
    boolean full = message.kind == null && faults.strikes(Fault.FULL_POOL);
    if (full) {
      memoryServers.pretendFull(message.server, true);
    }
    message.apply();
    if (full) {
      memoryServers.pretendFull(message.server, false);
    }
  }

  /** Lets those go on that an atomic of their lane held back. */
  private void release(Lane lane) {
    lane.held = false;
    while (!lane.held && !lane.behind.isEmpty()) {
      arrive(lane.behind.remove());
    }
  }

  private void leaveBucket(Message message) {
    Nic nic = serverNics[message.server];
    Message waiting = nic.passOn(message);
    if (waiting != null) {
      next(waiting, Message.Stage.IN_MEMORY, simulation.now());
      drain(nic);
    }
    answer(message, simulation.now() + costs.atomicExtra);
  }

  /** Takes what waits on the wire, until the card has no room again. */
  private void drain(Nic nic) {
    while (!nic.stalled.isEmpty()) {
      Message first = nic.stalled.peek();
      if (first.lane().held) {
        nic.stalled.remove();
        first.lane().behind.add(first);
      } else if (hasRoom(nic, first)) {
        nic.stalled.remove();
        accept(nic, first);
      } else {
        return;
      }
    }
  }

  /** Lets the lines of a READ or WRITE take effect in random order, over some time. */
  private void tear(Message message) {
    int lines = (skew(message) + message.length + LINE_BYTES - 1) / LINE_BYTES;
    int[] order = new int[lines];
    Arrays.setAll(order, i -> i);
    for (int i = lines - 1; i > 0; i--) {
      int other = (int) faults.draw(i + 1L);
      int moved = order[i];
      order[i] = order[other];
      order[other] = moved;
    }
    int parts = Math.min(lines, PARTS_MAX);
    long spread = faults.draw(TEAR_NANOS_MAX * Simulation.NANO);
    long start = simulation.now();
    for (int part = 0; part < parts; part++) {
      int from = lines * part / parts;
      int to = lines * (part + 1) / parts;
      simulation.at(start + spread * part / parts, () -> applyLines(message, order, from, to));
    }
    long end = start + spread;
    // A picosecond later, as events of one time come in any order.
    message.lane().tornUntil = end + 1;
    simulation.at(end, () -> answer(message, simulation.now()));
  }

  private static void applyLines(Message message, int[] order, int from, int to) {
    for (int i = from; i < to; i++) {
      int line = order[i] * LINE_BYTES - skew(message);
      int start = Math.max(0, line);
      int end = Math.min(message.length, line + LINE_BYTES);
      message.applyPart(start, end - start);
    }
  }

  /** Returns how far into a line of the memory server a verb begins. */
  private static int skew(Message message) {
    return (int) (message.remote % LINE_BYTES);
  }

  private void answer(Message message, long time) {
    if (message.failure() == null && faults.strikes(Fault.LOST_COMPLETION)) {
      message.fail(
          new UnknownOutcomeException(
              "the completion of a verb was lost: server=" + message.server));
      next(message, Message.Stage.DONE, time + costs.timeout);
      return;
    }
    Nic nic = serverNics[message.server];
    long work = message.bytesIn == 0 ? costs.ack : costs.message(message.bytesIn);
    Lane lane = message.lane();
    lane.delivery = Math.max(lane.delivery + 1, nic.out.serve(time, work) + way());
    next(message, Message.Stage.BACK, lane.delivery);
  }

  private void comeBack(Message message) {
    Nic nic = clientNics[message.client];
    long work = message.bytesIn == 0 ? costs.ack : costs.message(message.bytesIn);
    next(message, Message.Stage.DONE, nic.in.serve(simulation.now(), work) + costs.completion);
  }

  /** Returns for how long each compute server's card has sent. */
  public long[] clientsSending() {
    return Arrays.stream(clientNics).mapToLong(nic -> nic.out.busy()).toArray();
  }

  /** Returns for how long each compute server's card has received. */
  public long[] clientsReceiving() {
    return Arrays.stream(clientNics).mapToLong(nic -> nic.in.busy()).toArray();
  }

  /** Returns for how long each memory server's card has sent. */
  public long[] serversSending() {
    return Arrays.stream(serverNics).mapToLong(nic -> nic.out.busy()).toArray();
  }

  /** Returns for how long each memory server's card has received. */
  public long[] serversReceiving() {
    return Arrays.stream(serverNics).mapToLong(nic -> nic.in.busy()).toArray();
  }

  /** Returns for how long each memory server's processors have worked. */
  public long[] processing() {
    return Arrays.stream(processors)
        .mapToLong(threads -> Arrays.stream(threads).mapToLong(Resource::busy).sum())
        .toArray();
  }
}
