package pando.sim.network;

import static pando.sim.ClusterModel.Constant.CALL_NANOS;
import static pando.sim.ClusterModel.Constant.CALL_UNIT_NANOS;
import static pando.sim.ClusterModel.Constant.JITTER_NANOS;
import static pando.sim.ClusterModel.Constant.SPACE_CALL_NANOS;
import static pando.sim.ClusterModel.Constant.WIRE_NANOS;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.ToLongFunction;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import pando.fabric.MemoryServerLostException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.server.CallHandler;
import pando.sim.ClusterModel;
import pando.sim.ClusterOptions;
import pando.sim.Utilization;
import pando.sim.fault.Fault;
import pando.sim.time.Client;
import pando.sim.time.Simulation;

/**
 * The way of verbs from clients to memory servers and back: wires, and the cards at their ends. A
 * subclass says what serves verbs.
 */
public abstract class Network {
  final Simulation simulation;
  final ClusterModel model;
  final Faults faults;
  final Outages outages;
  final Tear tear;
  private final LeastEpochs leastEpochs;
  private final RandomGenerator random;
  private final int atomicityBytes;
  private final Card[] computeCards;
  private final Card[] memoryCards;

  /**
   * Connects the servers of a cluster.
   *
   * @param wipe restarts a memory server with empty memory
   * @param atomicityBytes size of the aligned parts of a transfer that take effect atomically
   */
  Network(
      Simulation simulation,
      ClusterOptions options,
      Faults faults,
      IntConsumer wipe,
      int atomicityBytes) {
    this.simulation = simulation;
    this.model = options.model();
    this.faults = faults;
    this.atomicityBytes = atomicityBytes;
    this.random = simulation.fork();
    int memoryServers = options.pool().memoryServers();
    outages = new Outages(simulation, faults, options.computeServers(), memoryServers, wipe);
    leastEpochs = new LeastEpochs(simulation, memoryServers);
    tear = new Tear(simulation, faults, outages, leastEpochs, atomicityBytes);
    memoryCards = new Card[memoryServers];
    Arrays.setAll(memoryCards, i -> new Card(model));
    computeCards = new Card[options.computeServers()];
    Arrays.setAll(
        computeCards,
        i -> options.sharedCards() && i < memoryServers ? memoryCards[i] : new Card(model));
  }

  /**
   * Connects the servers of a cluster by the network that its options name.
   *
   * @param wipe restarts a memory server with empty memory
   */
  public static Network of(
      Simulation simulation, ClusterOptions options, Faults faults, IntConsumer wipe) {
    return switch (options.network()) {
      case CARDS -> new CardNetwork(simulation, options, faults, wipe);
      case TCP -> new TcpNetwork(simulation, options, faults, wipe);
    };
  }

  /** Posts messages of a client, and runs their owner when each is done. */
  public abstract void post(Client client, List<Message> messages);

  /** Ends a memory server. */
  public final void stop(int memoryServer) {
    outages.stop(memoryServer);
  }

  /** Starts one that has ended, with empty memory, and without fences. */
  public final void start(int memoryServer) {
    leastEpochs.forget(memoryServer);
    outages.start(memoryServer);
  }

  /** Returns the incarnations of the memory servers: each start has another one. */
  public final int[] incarnations() {
    return outages.incarnations();
  }

  /** Returns, for each memory server, {@link SimQueuePair#ANY}. */
  public final int[] anyIncarnations() {
    int[] any = incarnations();
    Arrays.fill(any, SimQueuePair.ANY);
    return any;
  }

  /** Returns whether a memory server has ended. */
  public final boolean isLost(int memoryServer) {
    return outages.isLost(memoryServer);
  }

  /** Uses the processor time of a client that goes on as its messages are done. */
  public abstract void complete(Client client);

  /** Goes on with a message whose event is due. */
  abstract void advance(Message message);

  /** Returns for how long the processors of a memory server have worked, in picoseconds. */
  abstract long processing(int memoryServer);

  /** Returns the size of the aligned parts of a transfer that take effect atomically. */
  public final int atomicityBytes() {
    return atomicityBytes;
  }

  /** Returns whether every verb costs time of the memory server's processors. */
  public abstract boolean hasRemoteProcessor();

  /** Returns what the memory servers refuse. */
  public final LeastEpochs leastEpochs() {
    return leastEpochs;
  }

  final Card computeCard(int computeServer) {
    return computeCards[computeServer];
  }

  final Card memoryCard(int memoryServer) {
    return memoryCards[memoryServer];
  }

  /** Returns how long a message is on its way, in one direction. */
  final long way() {
    long jitter = model.picos(JITTER_NANOS);
    return model.picos(WIRE_NANOS)
        + (jitter == 0 ? 0 : random.nextLong(jitter))
        + faults.picosOf(Fault.DELAY);
  }

  /** Returns for how long a processor serves a CALL. */
  final long callPicos(Message call) {
    boolean space = call.function < CallHandler.FIRST_FUNCTION;
    return model.picos(space ? SPACE_CALL_NANOS : CALL_NANOS);
  }

  /** Returns for how much longer a processor serves a CALL, by the work that it was. */
  final long workPicos(Message message) {
    return message.workUnits() * model.picos(CALL_UNIT_NANOS);
  }

  static MemoryServerLostException lost(Message message, String because) {
    return new MemoryServerLostException(
        "memory server is lost: server="
            + message.queuePair().memoryServer
            + ", because="
            + because);
  }

  static UnknownOutcomeException notAnswered(Message message, String because) {
    return new UnknownOutcomeException(
        "a verb was not answered: server="
            + message.queuePair().memoryServer
            + ", because="
            + because);
  }

  /** Returns the utilization of cards and processors so far. */
  public final Utilization utilization() {
    return new Utilization(
        shares(computeCards, Card::sending),
        shares(computeCards, Card::receiving),
        shares(memoryCards, Card::sending),
        shares(memoryCards, Card::receiving),
        IntStream.range(0, memoryCards.length)
            .mapToObj(server -> share(processing(server)))
            .toList());
  }

  private List<Double> shares(Card[] cards, ToLongFunction<Card> busy) {
    return Arrays.stream(cards).map(card -> share(busy.applyAsLong(card))).toList();
  }

  private double share(long busy) {
    long now = simulation.now();
    return now == 0 ? 0.0 : (double) busy / now;
  }
}
