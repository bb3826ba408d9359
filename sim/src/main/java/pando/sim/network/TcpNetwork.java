package pando.sim.network;

import static pando.sim.ClusterModel.Constant.SOCKET_NANOS;
import static pando.sim.ClusterModel.Constant.SOCKET_NEXT_NANOS;
import static pando.sim.ClusterModel.Constant.TIMEOUT_NANOS;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * TCP: the processors of memory servers serve verbs, and compute servers' cores send and receive.
 *
 * <p>The clients of a core share a connection to each memory server, as the sessions of a lane do.
 * Their messages gather until the core has done what it was asked to until then, and leave in one
 * piece; a processor of the memory server serves all that has come by a connection one after the
 * other, and answers in one piece.
 *
 * <pre>
 *   clients --post--> gathered --core--> piece --wire--> arrived --processor--> effects
 *      ^                                                                           |
 *      +------------------- core <--wire-- piece of answers <----------------------+
 * </pre>
 */
final class TcpNetwork extends Network {
  private final TcpServer[] servers;

  /** The connections of each core, which is compared by identity. */
  private final Map<Resource, @Nullable SimTcpConnection[]> connections = new HashMap<>();

  TcpNetwork(Simulation simulation, ClusterOptions options, Faults faults, IntConsumer wipe) {
    super(simulation, options, faults, wipe, Long.BYTES);
    servers = new TcpServer[options.pool().memoryServers()];
    Arrays.setAll(servers, i -> new TcpServer(this, options.pool().processorThreads()));
  }

  @Override
  public void post(Client client, List<Message> messages) {
    for (Message message : messages) {
      connection(client, message.queuePair()).gather(message);
    }
  }

  private SimTcpConnection connection(Client client, SimQueuePair pair) {
    SimTcpConnection connection = pair.connection;
    if (connection == null) {
      @Nullable SimTcpConnection[] ofCore =
          connections.computeIfAbsent(client.core(), core -> new SimTcpConnection[servers.length]);
      connection = ofCore[pair.memoryServer];
      if (connection == null) {
        TcpServer server = servers[pair.memoryServer];
        connection =
            new SimTcpConnection(
                this, server, client.core(), pair.computeServer, pair.memoryServer);
        ofCore[pair.memoryServer] = connection;
      }
      pair.connection = connection;
    }
    return connection;
  }

  /** Does nothing: the core took the answers of all its clients before. */
  @Override
  public void complete(Client client) {}

  @Override
  void advance(Message message) {
    throw new UnsupportedOperationException("messages go in pieces");
  }

  @Override
  public boolean hasRemoteProcessor() {
    return true;
  }

  @Override
  long processing(int memoryServer) {
    return servers[memoryServer].busy();
  }

  /** Returns for how long a core sends or receives a piece of so many messages. */
  long socketPicos(int messages) {
    return model.picos(SOCKET_NANOS) + (messages - 1) * model.picos(SOCKET_NEXT_NANOS);
  }

  /** Loses the answers to messages; their clients go on later. */
  void loseAnswers(List<Message> messages, String because) {
    messages.forEach(message -> message.loseAnswer(notAnswered(message, because)));
    finishAt(simulation.now() + model.picos(TIMEOUT_NANOS), messages);
  }

  /** Lets the clients of messages go on at a time. */
  void finishAt(long time, List<Message> messages) {
    simulation.at(time, () -> messages.forEach(Message::finish));
  }

  /** Returns whether the answers to messages that were served get lost. */
  boolean losesAnswers() {
    return faults.strikes(Fault.LOST_COMPLETION);
  }
}
