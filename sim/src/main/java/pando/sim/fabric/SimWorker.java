package pando.sim.fabric;

import static pando.sim.ClusterModel.Constant.DOORBELL_NANOS;
import static pando.sim.ClusterModel.Constant.POLL_NANOS;
import static pando.sim.ClusterModel.Constant.POST_NANOS;
import static pando.sim.ClusterModel.Constant.POST_NEXT_NANOS;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.server.CallHandler;
import pando.sim.ClusterModel;
import pando.sim.fault.Fault;
import pando.sim.network.Message;
import pando.sim.network.Network;
import pando.sim.network.QueuePair;
import pando.sim.time.Client;

/**
 * Issues verbs in virtual time. The calling client waits until its verbs are answered; at the
 * virtual time of its effect, a worker of the real pool executes each verb.
 */
final class SimWorker implements Worker {
  private final Worker memory;
  private final Processors processors;
  private final ComputeHost host;
  private final Network network;
  private final ClusterModel model;
  private final Backoff backoff;
  private final RandomGenerator random;
  private final VerbCounters counters = new VerbCounters();
  private final QueuePair[] queuePairs;
  private final List<Message> messages = new ArrayList<>();
  private @Nullable Client waiting;
  private int underWay;
  private boolean closed;

  SimWorker(
      Worker memory,
      int memoryServers,
      Processors processors,
      ComputeHost host,
      Network network,
      ClusterModel model) {
    this.memory = memory;
    this.processors = processors;
    this.host = host;
    this.network = network;
    this.model = model;
    this.backoff = new SimBackoff(host);
    this.random = host.simulation().fork();
    this.queuePairs = new QueuePair[memoryServers];
    Arrays.setAll(queuePairs, i -> new QueuePair(host.number(), i));
  }

  @Override
  public MemorySegment memory() {
    return memory.memory();
  }

  @Override
  public void read(long remote, long local, int bytes) {
    run(message(0, Kind.READ, remote, local, bytes));
    counters.countRead(bytes);
  }

  @Override
  public void write(long remote, long local, int bytes) {
    run(message(0, Kind.WRITE, remote, local, bytes));
    counters.countWrite(bytes);
  }

  @Override
  public long cas(long remote, long expected, long desired) {
    return atomic(Kind.CAS, remote, expected, desired, 0, 0);
  }

  @Override
  public long faa(long remote, long addend) {
    return atomic(Kind.FAA, remote, addend, 0, 0, 0);
  }

  @Override
  public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    return atomic(Kind.MASKED_CAS, remote, compare, compareMask, swap, swapMask);
  }

  @Override
  public long maskedFaa(long remote, long addend, long boundaries) {
    return atomic(Kind.MASKED_FAA, remote, addend, boundaries, 0, 0);
  }

  @Override
  public boolean maskedCas16(long remote, long operands) {
    Message message = message(0, Kind.MASKED_CAS_16, remote, operands, 2 * Long.BYTES);
    run(message);
    counters.countAtomic(Kind.MASKED_CAS_16);
    return message.result() == 1;
  }

  private long atomic(Kind kind, long remote, long a, long b, long c, long d) {
    Message message = message(0, kind, remote, 0, Long.BYTES).operands(a, b, c, d);
    run(message);
    counters.countAtomic(kind);
    return message.result();
  }

  @Override
  public void post(VerbList list) {
    list.requireOneServer();
    runList(list);
  }

  @Override
  public void scatter(VerbList list) {
    runList(list);
  }

  private void runList(VerbList list) {
    checkOpen();
    int size = list.size();
    if (size == 0) {
      return;
    }
    boolean breaks = size > 1 && host.faults().strikes(Fault.BROKEN_LIST);
    int broken = breaks ? 1 + (int) host.faults().draw(size - 1L) : size;
    int whole = 0;
    for (int i = 0; i < size; i++) {
      if (i < broken || !isOfSameServer(list, i, broken)) {
        prepare(whole++, list, i);
      }
    }
    run(whole);
    for (int i = 0; i < whole; i++) {
      Message message = messages.get(i);
      if (message.returnsWord()) {
        Words.setUnaligned(memory.memory(), message.local(), message.result());
      }
    }
    if (breaks) {
      throw new UnknownOutcomeException(
          "a doorbell list ended with an error: done=" + whole + ", verbs=" + size);
    }
  }

  private static boolean isOfSameServer(VerbList list, int one, int other) {
    return GlobalAddress.server(list.remote(one)) == GlobalAddress.server(list.remote(other));
  }

  private void prepare(int index, VerbList list, int i) {
    Message message =
        message(index, list.kind(i), list.remote(i), list.local(i), list.length(i))
            .operands(
                list.operand(i, 0), list.operand(i, 1), list.operand(i, 2), list.operand(i, 3));
    if (message.returnsWord()) {
      Objects.checkFromIndexSize(list.local(i), Long.BYTES, memory.memory().byteSize());
    }
    count(list.kind(i), list.length(i));
  }

  private void count(Kind kind, int bytes) {
    switch (kind) {
      case READ -> counters.countRead(bytes);
      case WRITE -> counters.countWrite(bytes);
      default -> counters.countAtomic(kind);
    }
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    if (server < 0 || server >= queuePairs.length) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + server + ", memoryServers=" + queuePairs.length);
    }
    if (function < 0 || function >= CallHandler.FUNCTIONS_MAX) {
      throw new IllegalArgumentException("no such function: function=" + function);
    }
    if (requestBytes < 0 || requestBytes > CALL_BYTES_MAX) {
      throw new IllegalArgumentException(
          "invalid request: requestBytes=" + requestBytes + ", maximum=" + CALL_BYTES_MAX);
    }
    MemorySegment bytes = memory.memory().asSlice(message, CALL_BYTES_MAX);
    Message call =
        message(0)
            .call(
                server,
                function,
                requestBytes,
                () -> processors.serve(server, function, bytes, requestBytes));
    counters.calls++;
    counters.bytesOut += requestBytes;
    run(call);
    counters.bytesIn += call.result();
    return (int) call.result();
  }

  @Override
  public VerbCounters counters() {
    return counters;
  }

  @Override
  public Backoff backoff() {
    return backoff;
  }

  @Override
  public long nanoTime() {
    return host.nanoTime();
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public void close() {
    closed = true;
    memory.close();
  }

  private Message message(int index, Kind kind, long remote, long local, int bytes) {
    checkOpen();
    int server = GlobalAddress.server(remote);
    if (GlobalAddress.isSwizzled(remote) || server >= queuePairs.length) {
      throw new InvalidAddressException(
          "no such memory server: address="
              + GlobalAddress.toString(remote)
              + ", memoryServers="
              + queuePairs.length);
    }
    return message(index).verb(kind, server, remote, local, bytes);
  }

  private Message message(int index) {
    while (messages.size() <= index) {
      messages.add(new Message(network, this::comeBack, memory, queuePairs));
    }
    return messages.get(index);
  }

  private void run(Message message) {
    assert message == messages.getFirst();
    run(1);
  }

  /** Posts the first {@code count} messages and waits for all. */
  private void run(int count) {
    Client client = host.simulation().running();
    if (client == null) {
      applyNow(count);
    } else {
      postAndWait(client, host.strike(client, count));
    }
    counters.roundTrips++;
    for (int i = 0; i < count; i++) {
      RuntimeException failure = messages.get(i).failure();
      if (failure != null) {
        throw failure;
      }
    }
  }

  /** Executes verbs at once, up to the first that fails. */
  private void applyNow(int count) {
    for (int i = 0; i < count; i++) {
      messages.get(i).apply();
      if (messages.get(i).failure() != null) {
        return;
      }
    }
  }

  private void postAndWait(Client client, int count) {
    if (count == 0) {
      host.checkUp();
    }
    waiting = client;
    underWay = count;
    for (int i = 0; i < count; i++) {
      client.charge(model.picos(i == 0 ? POST_NANOS : POST_NEXT_NANOS));
      network.post(messages.get(i), client.now() + model.picos(DOORBELL_NANOS));
    }
    client.await();
    client.charge(model.picos(POLL_NANOS));
    client.countRoundTrip();
  }

  private void comeBack() {
    if (--underWay == 0) {
      Client client = Objects.requireNonNull(waiting);
      waiting = null;
      client.resume();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("worker is closed");
    }
  }
}
