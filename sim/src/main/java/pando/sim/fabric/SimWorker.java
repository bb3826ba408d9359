package pando.sim.fabric;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;
import pando.fabric.base.Fences;
import pando.fabric.base.ListWorker;
import pando.sim.fault.Fault;
import pando.sim.network.Message;
import pando.sim.network.Network;
import pando.sim.time.Client;

/**
 * Issues verbs in virtual time. The calling client waits until its verbs are answered; at the
 * virtual time of its effect, a worker of the real pool executes each verb.
 */
final class SimWorker extends ListWorker {
  private final Worker memory;
  private final Processors processors;
  private final ComputeHost host;
  private final Network network;
  private final FabricIdentity identity;
  private final Fences fences;
  private final Messages messages;
  private final int memoryServers;

  /** The first verb that is left out, and the memory server of those that are. */
  private int leftOutFrom;

  private int leftOutServer;

  /**
   * Creates a worker.
   *
   * @param incarnations of the memory servers that it is connected to
   * @param memory worker of the pool's memory, through which verbs take effect
   */
  SimWorker(
      SimPool pool,
      ComputeHost host,
      FabricIdentity identity,
      int[] incarnations,
      Worker memory,
      long[] dramBytes) {
    super(dramBytes, memory.memory(), host.simulation().fork(), new SimBackoff(host));
    this.memory = memory;
    this.processors = pool.processors();
    this.host = host;
    this.network = pool.network();
    this.identity = identity;
    this.fences = pool.fences();
    this.memoryServers = dramBytes.length;
    this.messages = new Messages(network, memory, identity, host.number(), incarnations);
  }

  @Override
  protected void run(VerbList list) {
    long reconnecting = host.faults().picosOf(Fault.RECONNECT);
    boolean breaks = reconnecting == 0 && breaks(list);
    whole(list);
    if (reconnecting > 0) {
      cut(list);
    } else if (breaks) {
      breakOffAt(list, 1 + draw(list.size() - 1));
    }
    int posted = prepare(list);
    post(posted);
    takeResults(list);
    checkOutcome(list, posted, breaks);
    if (reconnecting > 0) {
      reconnect(list, reconnecting);
    }
  }

  /** Over TCP a list is there whole, or not at all. */
  private boolean breaks(VerbList list) {
    return list.size() > 1
        && !network.hasRemoteProcessor()
        && host.faults().strikes(Fault.BROKEN_LIST);
  }

  private void whole(VerbList list) {
    leftOutFrom = list.size();
    leftOutServer = -1;
  }

  /** Leaves a verb out, and those to the same memory server behind it. */
  private void breakOffAt(VerbList list, int verb) {
    leftOutFrom = verb;
    leftOutServer = server(list, verb);
  }

  /** Cuts the connection to a memory server before, in, or behind what goes to it. */
  private void cut(VerbList list) {
    int verb = draw(list.size());
    breakOffAt(list, verb);
    boolean isDone = draw(2) == 1;
    if (isDone) {
      leftOutFrom = list.size();
    } else if (network.hasRemoteProcessor()) {
      leftOutFrom = 0;
    }
  }

  private int draw(int bound) {
    return (int) host.faults().draw(bound);
  }

  private boolean isPosted(VerbList list, int i) {
    return i < leftOutFrom || server(list, i) != leftOutServer;
  }

  private int prepare(VerbList list) {
    int posted = 0;
    for (int i = 0; i < list.size(); i++) {
      if (isPosted(list, i)) {
        prepare(posted++, list, i);
      }
    }
    return posted;
  }

  /** Takes the results of verbs that were answered, and says what became of each. */
  private void takeResults(VerbList list) {
    int posted = 0;
    for (int i = 0; i < list.size(); i++) {
      if (isPosted(list, i)) {
        Message message = messages.get(posted++);
        if (message.outcome() == Outcome.DONE && message.returnsWord()) {
          setFound(message.local(), message.result());
        }
        list.setOutcome(i, message.outcome());
      }
    }
  }

  private void checkOutcome(VerbList list, int posted, boolean breaks) {
    try {
      messages.checkAnswered(posted);
      if (breaks) {
        throw new UnknownOutcomeException(
            "a doorbell list ended with an error: posted=" + posted + ", verbs=" + list.size());
      }
    } catch (UnknownOutcomeException e) {
      throw list.isReadsAlone() ? new StalledException(String.valueOf(e.getMessage())) : e;
    }
  }

  /** Waits until the connection is usable again; READs alone are sent again then. */
  private void reconnect(VerbList list, long picos) {
    for (int i = 0; i < list.size(); i++) {
      if (server(list, i) == leftOutServer) {
        list.setOutcome(i, Outcome.UNKNOWN);
      }
    }
    sleep(picos);
    if (!list.isReadsAlone()) {
      throw cutOff(leftOutServer);
    }
    run(list);
  }

  private void sleep(long picos) {
    host.sleep(Objects.requireNonNull(host.simulation().running()), picos);
  }

  private static UnknownOutcomeException cutOff(int server) {
    return new UnknownOutcomeException("a connection was cut: server=" + server);
  }

  private static int server(VerbList list, int i) {
    return GlobalAddress.server(list.remote(i));
  }

  private void prepare(int index, VerbList list, int i) {
    long remote = list.remote(i);
    messages
        .get(index)
        .verb(list.kind(i), GlobalAddress.server(remote), remote, list.local(i), list.length(i))
        .operands(list.operand(i, 0), list.operand(i, 1), list.operand(i, 2), list.operand(i, 3));
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    checkCall(server, memoryServers, function, message, requestBytes);
    MemorySegment bytes = memory().asSlice(message, CALL_BYTES_MAX);
    Message call =
        messages
            .get(0)
            .call(
                server,
                function,
                requestBytes,
                new Message.Call() {
                  @Override
                  public int serve() {
                    return processors.serve(server, function, bytes, requestBytes);
                  }

                  @Override
                  public int workUnits(int responseBytes) {
                    return processors.workUnits(server, function, requestBytes, responseBytes);
                  }
                });
    long reconnecting = host.faults().picosOf(Fault.RECONNECT);
    post(reconnecting > 0 && draw(2) == 0 ? 0 : 1);
    messages.checkAnswered(1);
    if (reconnecting > 0) {
      sleep(reconnecting);
      throw cutOff(server);
    }
    int responseBytes = (int) call.result();
    counters().countCall(requestBytes, responseBytes);
    return responseBytes;
  }

  @Override
  public long nanoTime() {
    return host.nanoTime();
  }

  @Override
  public void close() {
    super.close();
    memory.close();
  }

  /** Posts the first {@code count} messages and waits for all. */
  private void post(int count) {
    Client client = host.simulation().running();
    if (client == null) {
      applyNow(count);
    } else if (count > 0) {
      int posted = host.strike(client, identity, count);
      if (posted > 0) {
        messages.post(client, posted);
      }
      host.checkUp();
      identity.checkUp();
    }
  }

  /** Outside of clients, threads may be fenced by others. */
  private void applyNow(int count) {
    try (Fences.Pass pass = fences.pass(identity.name(), Fences.NO_WAY, () -> {})) {
      pass.enter();
      try {
        messages.applyNow(count);
      } finally {
        pass.exit();
      }
    }
  }
}
