package pando.sim.fabric;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;
import pando.fabric.base.ListWorker;
import pando.sim.fault.Fault;
import pando.sim.network.Message;
import pando.sim.network.Network;
import pando.sim.network.QueuePair;
import pando.sim.time.Client;

/**
 * Issues verbs in virtual time. The calling client waits until its verbs are answered; at the
 * virtual time of its effect, a worker of the real pool executes each verb.
 */
final class SimWorker extends ListWorker {
  private final Worker pool;
  private final Processors processors;
  private final ComputeHost host;
  private final Network network;
  private final QueuePair[] queuePairs;
  private final List<Message> messages = new ArrayList<>();
  private @Nullable Client waiting;
  private int underWay;

  /**
   * Creates a worker.
   *
   * @param pool worker of the real pool, with the same local memory
   */
  SimWorker(
      Worker pool, long[] dramBytes, Processors processors, ComputeHost host, Network network) {
    super(dramBytes, pool.memory(), host.simulation().fork(), new SimBackoff(host));
    this.pool = pool;
    this.processors = processors;
    this.host = host;
    this.network = network;
    this.queuePairs = new QueuePair[dramBytes.length];
    Arrays.setAll(queuePairs, i -> new QueuePair(host.number(), i));
  }

  @Override
  protected void run(VerbList list) {
    int size = list.size();
    boolean breaks = size > 1 && host.faults().strikes(Fault.BROKEN_LIST);
    int broken = breaks ? 1 + (int) host.faults().draw(size - 1L) : size;
    int posted = 0;
    for (int i = 0; i < size; i++) {
      if (isPosted(list, i, broken)) {
        prepare(posted++, list, i);
      }
    }
    post(posted);
    takeResults(list, broken);
    try {
      checkAnswered(posted);
      if (breaks) {
        throw new UnknownOutcomeException(
            "a doorbell list ended with an error: posted=" + posted + ", verbs=" + size);
      }
    } catch (UnknownOutcomeException e) {
      throw list.isReadsAlone() ? new StalledException(String.valueOf(e.getMessage())) : e;
    }
  }

  /** Returns whether a verb is posted when the list breaks at another one. */
  private static boolean isPosted(VerbList list, int i, int broken) {
    return i < broken || !isOfSameServer(list, i, broken);
  }

  /** Takes the results of verbs that were answered, and says what became of each. */
  private void takeResults(VerbList list, int broken) {
    int posted = 0;
    for (int i = 0; i < list.size(); i++) {
      if (isPosted(list, i, broken)) {
        Message message = messages.get(posted++);
        if (message.outcome() == Outcome.DONE && message.returnsWord()) {
          setFound(message.local(), message.result());
        }
        list.setOutcome(i, message.outcome());
      }
    }
  }

  private static boolean isOfSameServer(VerbList list, int one, int other) {
    return GlobalAddress.server(list.remote(one)) == GlobalAddress.server(list.remote(other));
  }

  private void prepare(int index, VerbList list, int i) {
    long remote = list.remote(i);
    message(index)
        .verb(list.kind(i), GlobalAddress.server(remote), remote, list.local(i), list.length(i))
        .operands(list.operand(i, 0), list.operand(i, 1), list.operand(i, 2), list.operand(i, 3));
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    checkCall(server, queuePairs.length, function, message, requestBytes);
    MemorySegment bytes = memory().asSlice(message, CALL_BYTES_MAX);
    Message call =
        message(0)
            .call(
                server,
                function,
                requestBytes,
                () -> processors.serve(server, function, bytes, requestBytes));
    post(1);
    checkAnswered(1);
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
    pool.close();
  }

  private Message message(int index) {
    while (messages.size() <= index) {
      messages.add(new Message(network, this::comeBack, pool, queuePairs));
    }
    return messages.get(index);
  }

  /** Posts the first {@code count} messages and waits for all. */
  private void post(int count) {
    Client client = host.simulation().running();
    if (client == null) {
      applyNow(count);
    } else {
      postAndWait(client, host.strike(client, count));
    }
  }

  private void checkAnswered(int count) {
    for (int i = 0; i < count; i++) {
      RuntimeException failure = messages.get(i).failure();
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** Executes verbs at once; those behind one that fails fail, too. */
  private void applyNow(int count) {
    RuntimeException failure = null;
    for (int i = 0; i < count; i++) {
      Message message = messages.get(i);
      if (failure == null) {
        message.apply();
        failure = message.failure();
      } else {
        message.fail(failure);
      }
    }
  }

  private void postAndWait(Client client, int count) {
    if (count == 0) {
      host.checkUp();
    }
    waiting = client;
    underWay = count;
    network.post(client, messages, count);
    client.await();
    network.complete(client);
    client.countRoundTrip();
  }

  private void comeBack() {
    if (--underWay == 0) {
      Client client = Objects.requireNonNull(waiting);
      waiting = null;
      client.resume();
    }
  }
}
