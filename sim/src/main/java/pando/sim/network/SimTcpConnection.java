package pando.sim.network;

import static pando.sim.ClusterModel.Constant.WAKE_NANOS;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/** The connection of a core to a memory server. Pieces do not overtake each other. */
final class SimTcpConnection {
  /** Bytes of a verb in a piece, besides its payload. */
  private static final int VERB_BYTES = 16;

  /** Bytes of a piece besides its verbs. */
  private static final int HEADER_BYTES = 32;

  private final TcpNetwork network;
  private final Simulation simulation;
  private final TcpServer server;
  private final Resource core;
  private final int computeServer;
  private final int memoryServer;
  private List<Message> gathered = new ArrayList<>();
  private long arrival;
  private long delivery;

  /** Messages that the memory server has received and not begun to serve. */
  private final Queue<Message> arrived = new ArrayDeque<>();

  /** Whether the memory server serves messages of this connection, or will. */
  private boolean isServed;

  SimTcpConnection(
      TcpNetwork network, TcpServer server, Resource core, int computeServer, int memoryServer) {
    this.network = network;
    this.simulation = network.simulation;
    this.server = server;
    this.core = core;
    this.computeServer = computeServer;
    this.memoryServer = memoryServer;
  }

  /** Adds a message to those that leave together when the core has done its present work. */
  void gather(Message message) {
    gathered.add(message);
    if (gathered.size() == 1) {
      // After all other clients of the core that can go on now.
      simulation.at(Math.max(simulation.now(), core.freeAt()) + 1, this::send);
    }
  }

  private static int bytesOut(List<Message> piece) {
    return HEADER_BYTES + piece.stream().mapToInt(verb -> VERB_BYTES + verb.bytesOut).sum();
  }

  private static int bytesIn(List<Message> answers) {
    return HEADER_BYTES + answers.stream().mapToInt(verb -> verb.bytesIn).sum();
  }

  private void send() {
    List<Message> piece = gathered;
    gathered = new ArrayList<>();
    long written = core.serve(simulation.now(), network.socketPicos(piece.size()));
    simulation.at(written, () -> leave(piece));
  }

  private void leave(List<Message> piece) {
    piece.forEach(network.outages::strike);
    long sent = network.computeCard(computeServer).send(simulation.now(), bytesOut(piece));
    arrival = Math.max(arrival + 1, sent + network.way());
    simulation.at(arrival, () -> arrive(piece));
  }

  private void arrive(List<Message> piece) {
    String because = network.outages.lostBecause(piece.getFirst());
    if (because != null) {
      piece.forEach(message -> message.fail(Network.lost(message, because)));
      network.loseAnswers(piece, because);
      return;
    }
    long received = network.memoryCard(memoryServer).receive(simulation.now(), bytesOut(piece));
    simulation.at(received, () -> enter(piece));
  }

  private void enter(List<Message> piece) {
    arrived.addAll(piece);
    if (!isServed) {
      isServed = true;
      server.serve(this);
    }
  }

  /** Returns all messages that have arrived, to be served in this order. */
  List<Message> takeArrived() {
    List<Message> taken = List.copyOf(arrived);
    arrived.clear();
    return taken;
  }

  /** Sends the answers to messages that were served. */
  void answer(List<Message> served) {
    if (arrived.isEmpty()) {
      isServed = false;
    } else {
      server.serve(this);
    }
    String because = network.outages.lostBecause(served.getLast());
    if (because == null && network.losesAnswers()) {
      because = "its completion was lost";
    }
    if (because != null) {
      network.loseAnswers(served, because);
      return;
    }
    int bytes = bytesIn(served);
    long sent = network.memoryCard(memoryServer).send(simulation.now(), bytes);
    delivery = Math.max(delivery + 1, sent + network.way());
    simulation.at(delivery, () -> receive(served, bytes));
  }

  private void receive(List<Message> answers, int bytes) {
    long received = network.computeCard(computeServer).receive(simulation.now(), bytes);
    boolean sleeps = core.freeAt() < received;
    long awake = received + (sleeps ? network.model.picos(WAKE_NANOS) : 0);
    simulation.at(awake, () -> read(answers));
  }

  private void read(List<Message> answers) {
    network.finishAt(core.serve(simulation.now(), network.socketPicos(answers.size())), answers);
  }
}
