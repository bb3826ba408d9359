package pando.sim.network;

import static pando.sim.ClusterModel.Constant.FRAME_NANOS;
import static pando.sim.ClusterModel.Constant.FRAME_NEXT_NANOS;
import static pando.sim.ClusterModel.Constant.WAKE_NANOS;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import pando.sim.fault.Fault;
import pando.sim.time.Simulation;

/**
 * A memory server's processors, which serve connections in the order in which something came by
 * them. Each serves one connection at a time, and what came by it as a whole.
 */
final class TcpServer {
  private final TcpNetwork network;
  private final Simulation simulation;
  private final Queue<SimTcpConnection> waiting = new ArrayDeque<>();
  private int idle;
  private long busy;

  TcpServer(TcpNetwork network, int processors) {
    this.network = network;
    this.simulation = network.simulation;
    this.idle = processors;
  }

  /** Serves what came by a connection as soon as a processor is idle, which may have to wake up. */
  void serve(SimTcpConnection connection) {
    waiting.add(connection);
    serveNext(network.model.picos(WAKE_NANOS));
  }

  /** Returns for how long the processors have worked, in picoseconds. */
  long busy() {
    return busy;
  }

  private void serveNext(long wakePicos) {
    SimTcpConnection connection = idle == 0 ? null : waiting.poll();
    if (connection != null) {
      idle--;
      long pause = network.faults.picosOf(Fault.PAUSE);
      simulation.at(simulation.now() + wakePicos + pause, () -> serveArrived(connection));
    }
  }

  private void serveArrived(SimTcpConnection connection) {
    new Service(connection, connection.takeArrived()).begin();
  }

  /** A processor's work on messages that came by one connection. */
  private final class Service implements Runnable {
    private final SimTcpConnection connection;
    private final List<Message> messages;
    private int next;

    Service(SimTcpConnection connection, List<Message> messages) {
      this.connection = connection;
      this.messages = messages;
    }

    void begin() {
      work(network.model.picos(FRAME_NANOS) + callPicos());
    }

    private long callPicos() {
      Message message = messages.get(next);
      return message.kind == null ? network.callPicos(message) : 0;
    }

    private void work(long picos) {
      busy += picos;
      simulation.at(simulation.now() + picos, this);
    }

    /** Lets the next message take effect. */
    @Override
    public void run() {
      long tearing = takeEffect(messages.get(next++));
      simulation.at(simulation.now() + tearing, this::goOn);
    }

    private void goOn() {
      if (next < messages.size()) {
        work(network.model.picos(FRAME_NEXT_NANOS) + callPicos());
        return;
      }
      idle++;
      connection.answer(messages);
      serveNext(0);
    }

    /** Lets a message take effect; returns how long that lasts. */
    private long takeEffect(Message message) {
      if (network.outages.hasCrashedSince(message)) {
        message.fail(Network.lost(message, "it crashed"));
        return 0;
      }
      RuntimeException error = message.queuePair().error;
      if (error != null) {
        message.fail(error);
        return 0;
      }
      if (message.refuse()) {
        return 0;
      }
      long tearing = network.tear.isPossible(message) ? network.faults.picosOf(Fault.TORN) : 0;
      if (tearing > 0) {
        network.tear.start(message, tearing);
        return tearing;
      }
      message.apply();
      long work = network.workPicos(message);
      busy += work;
      return work;
    }
  }
}
