package pando.sim.fabric;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.Worker;
import pando.sim.network.Message;
import pando.sim.network.Network;
import pando.sim.network.SimQueuePair;
import pando.sim.time.Client;

/** The messages of one sender, which waits for those that it posts. */
final class Messages {
  private final Network network;
  private final @Nullable Worker memory;
  private final @Nullable FabricIdentity identity;
  private final SimQueuePair[] queuePairs;
  private final List<Message> messages = new ArrayList<>();
  private @Nullable Client waiting;
  private int underWay;

  /**
   * Creates it without messages.
   *
   * @param memory worker through which verbs take effect; {@code null} if all messages are CALLs
   * @param identity by which the sender may be refused, {@code null} if it never is
   * @param computeServer whose card the messages leave by
   * @param incarnations of the memory servers that they go to
   */
  Messages(
      Network network,
      @Nullable Worker memory,
      @Nullable FabricIdentity identity,
      int computeServer,
      int[] incarnations) {
    this.network = network;
    this.memory = memory;
    this.identity = identity;
    this.queuePairs = new SimQueuePair[incarnations.length];
    Arrays.setAll(queuePairs, i -> new SimQueuePair(computeServer, i, incarnations[i]));
  }

  Message get(int index) {
    while (messages.size() <= index) {
      messages.add(new Message(network, this::comeBack, memory, queuePairs));
    }
    return messages.get(index);
  }

  /**
   * Posts the first {@code count} messages, at least one, and waits for all. Where a fence refuses
   * some, and the sender gets another epoch, those are sent again.
   */
  void post(Client client, int count) {
    List<Message> posted = messages.subList(0, count);
    ComputeServer sender = send(client, posted);
    List<Message> refused = posted.stream().filter(Message::isRefused).toList();
    while (!refused.isEmpty() && isRenewed(sender, client)) {
      refused.forEach(Message::repeat);
      sender = send(client, refused);
      refused = refused.stream().filter(Message::isRefused).toList();
    }
  }

  private boolean isRenewed(@Nullable ComputeServer refused, Client client) {
    return identity != null && refused != null && identity.awaitOther(refused, client);
  }

  /** Posts messages and waits for all; returns from whom they were sent. */
  private @Nullable ComputeServer send(Client client, List<Message> posted) {
    ComputeServer sender = sender();
    posted.forEach(message -> message.sendAs(sender));
    waiting = client;
    underWay = posted.size();
    network.post(client, posted);
    client.await();
    network.complete(client);
    client.countRoundTrip();
    return sender;
  }

  private @Nullable ComputeServer sender() {
    return identity == null ? null : identity.name();
  }

  /** Lets the first messages take effect at once; those behind one that fails fail, too. */
  void applyNow(int count) {
    ComputeServer sender = sender();
    RuntimeException failure = null;
    for (int i = 0; i < count; i++) {
      Message message = messages.get(i);
      message.sendAs(sender);
      if (failure != null) {
        message.fail(failure);
      } else if (!message.refuse()) {
        message.apply();
      }
      failure = message.failure();
    }
  }

  /** Throws why one of the first messages failed, if one did. */
  void checkAnswered(int count) {
    for (int i = 0; i < count; i++) {
      RuntimeException failure = get(i).failure();
      if (failure != null) {
        throw failure;
      }
    }
  }

  private void comeBack() {
    if (--underWay == 0) {
      Client client = Objects.requireNonNull(waiting);
      waiting = null;
      client.resume();
    }
  }
}
