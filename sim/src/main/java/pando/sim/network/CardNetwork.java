package pando.sim.network;

import static pando.sim.ClusterModel.Constant.ATOMIC_EXTRA_NANOS;
import static pando.sim.ClusterModel.Constant.ATOMIC_FAILURE_NANOS;
import static pando.sim.ClusterModel.Constant.ATOMIC_SUCCESS_NANOS;
import static pando.sim.ClusterModel.Constant.COMPLETION_NANOS;
import static pando.sim.ClusterModel.Constant.DOORBELL_NANOS;
import static pando.sim.ClusterModel.Constant.POLL_NANOS;
import static pando.sim.ClusterModel.Constant.POST_NANOS;
import static pando.sim.ClusterModel.Constant.POST_NEXT_NANOS;
import static pando.sim.ClusterModel.Constant.READ_NANOS;
import static pando.sim.ClusterModel.Constant.TIMEOUT_NANOS;
import static pando.sim.ClusterModel.Constant.WRITE_NANOS;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList.Kind;
import pando.sim.ClusterOptions;
import pando.sim.fault.Fault;
import pando.sim.network.Message.Stage;
import pando.sim.time.Client;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * Network cards that serve verbs without the memory servers' processors.
 *
 * <p>A verb goes through the compute server's card, over the wire, through the memory server's
 * card, takes effect in memory, and its answer comes back the same way. Each stage is an event;
 * between stages the message waits in order for the resource that it needs. A READ whose answer is
 * lost is served again, so a WRITE or an atomic is sent when the READs before it are answered.
 */
final class CardNetwork extends Network {
  /** Size of the aligned parts of a transfer that a card moves atomically. */
  private static final int LINE_BYTES = 64;

  private final Resource[][] processors;

  CardNetwork(Simulation simulation, ClusterOptions options, Faults faults, IntConsumer wipe) {
    super(simulation, options, faults, wipe, LINE_BYTES);
    processors = new Resource[options.pool().memoryServers()][options.pool().processorThreads()];
    for (Resource[] threads : processors) {
      Arrays.setAll(threads, i -> new Resource());
    }
  }

  @Override
  public void post(Client client, List<Message> messages) {
    for (int i = 0; i < messages.size(); i++) {
      client.charge(model.picos(i == 0 ? POST_NANOS : POST_NEXT_NANOS));
      next(messages.get(i), Stage.SEND, client.now() + model.picos(DOORBELL_NANOS));
    }
  }

  @Override
  public void complete(Client client) {
    client.charge(model.picos(POLL_NANOS));
  }

  private void next(Message message, Stage stage, long time) {
    message.stage = stage;
    simulation.at(time, message);
  }

  @Override
  void advance(Message message) {
    switch (message.stage) {
      case SEND -> send(message);
      case ARRIVE -> arrive(message);
      case TAKE_EFFECT -> takeEffect(message);
      case LEAVE_BUCKET -> leaveBucket(message);
      case END_TEAR -> endTear(message);
      case ANSWER -> answer(message);
      case RETURN -> comeBack(message);
      case FINISH -> finish(message);
    }
  }

  private void send(Message message) {
    SimQueuePair pair = message.queuePair();
    if (!pair.behindReads.isEmpty() || message.followsReads()) {
      pair.behindReads.add(message);
    } else {
      sendNow(message);
    }
  }

  private void sendNow(Message message) {
    outages.strike(message);
    SimQueuePair pair = message.queuePair();
    pair.reads += message.kind == Kind.READ ? 1 : 0;
    long sent =
        computeCard(message.queuePair().computeServer).send(simulation.now(), message.bytesOut);
    pair.arrival = Math.max(pair.arrival + 1, sent + way());
    next(message, Stage.ARRIVE, pair.arrival);
  }

  private void arrive(Message message) {
    String because = outages.lostBecause(message);
    if (because != null) {
      message.fail(lost(message, because));
      answer(message);
      return;
    }
    Card card = memoryCard(message.queuePair().memoryServer);
    card.wire.add(message);
    drain(card);
  }

  /** Takes messages from the wire until the card has no room. */
  private void drain(Card card) {
    while (!card.wire.isEmpty() && take(card, card.wire.element())) {
      card.wire.remove();
    }
  }

  /** Takes a message from the wire; {@code false} if there is no room. */
  private boolean take(Card card, Message message) {
    if (message.queuePair().held) {
      message.queuePair().behind.add(message);
      return true;
    }
    if (!card.hasRoom(message)) {
      return false;
    }
    accept(card, message);
    return true;
  }

  private void accept(Card card, Message message) {
    long taken = card.receive(simulation.now(), message.bytesOut);
    if (!message.isOnHost()) {
      takeEffectAt(message, ready(card, message, taken));
      return;
    }
    message.queuePair().held = true;
    if (card.isTaken(message)) {
      card.park(message);
    } else {
      card.take(message);
      takeEffectAt(message, taken);
    }
  }

  /** Returns when a verb that waits for no bucket is ready to take effect. */
  private long ready(Card card, Message message, long taken) {
    Kind kind = message.kind;
    if (kind == null) {
      return processed(message, taken + model.picos(COMPLETION_NANOS));
    }
    if (GlobalAddress.isOnChip(message.remote)) {
      return card.onChipEffect(taken, message);
    }
    return taken + model.picos(kind == Kind.READ ? READ_NANOS : WRITE_NANOS);
  }

  private long processed(Message message, long arrival) {
    Resource free = freest(message);
    free.pause(arrival, faults.picosOf(Fault.PAUSE));
    return free.serve(arrival, callPicos(message));
  }

  /** Returns the processor that is free first. */
  private Resource freest(Message message) {
    Resource[] threads = processors[message.queuePair().memoryServer];
    Resource free = threads[0];
    for (Resource thread : threads) {
      free = thread.freeAt() < free.freeAt() ? thread : free;
    }
    return free;
  }

  /** Schedules the effect of a verb for when it is ready, after those before it. */
  private void takeEffectAt(Message message, long ready) {
    SimQueuePair pair = message.queuePair();
    pair.effect = Math.max(pair.effect + 1, ready);
    next(message, Stage.TAKE_EFFECT, pair.effect);
  }

  private void takeEffect(Message message) {
    SimQueuePair pair = message.queuePair();
    if (pair.torn) {
      pair.postponed.add(message);
      return;
    }
    if (outages.hasCrashedSince(message)) {
      message.fail(lost(message, "it crashed"));
    } else if (pair.error != null) {
      message.fail(pair.error);
    }
    boolean fails = message.failure() != null || message.refuse();
    if (message.isOnHost()) {
      boolean stored = !fails && message.apply();
      long kept = model.picos(stored ? ATOMIC_SUCCESS_NANOS : ATOMIC_FAILURE_NANOS);
      next(message, Stage.LEAVE_BUCKET, simulation.now() + kept);
      release(pair);
      return;
    }
    long tearing = !fails && tear.isPossible(message) ? faults.picosOf(Fault.TORN) : 0;
    if (tearing > 0) {
      pair.torn = true;
      tear.start(message, tearing);
      next(message, Stage.END_TEAR, simulation.now() + tearing);
      return;
    }
    if (!fails) {
      message.apply();
    }
    long work = work(message);
    if (work > 0) {
      next(message, Stage.ANSWER, simulation.now() + work);
    } else {
      answer(message);
    }
  }

  /** Keeps a processor with a CALL that took effect for as long as its work lasts. */
  private long work(Message message) {
    long picos = workPicos(message);
    if (picos > 0) {
      freest(message).serve(simulation.now(), picos);
    }
    return picos;
  }

  /** Advances the messages that an atomic of their queue pair held back. */
  private void release(SimQueuePair pair) {
    Card card = memoryCard(pair.memoryServer);
    pair.held = false;
    while (!pair.held && !pair.behind.isEmpty()) {
      Message first = pair.behind.remove();
      if (!take(card, first)) {
        // In front of all messages that the card has not taken yet, as some of those come after it.
        card.wire.addFirst(first);
        return;
      }
    }
  }

  private void leaveBucket(Message message) {
    Card card = memoryCard(message.queuePair().memoryServer);
    Message waiting = card.passOn(message);
    if (waiting != null) {
      takeEffectAt(waiting, simulation.now());
    }
    drain(card);
    next(message, Stage.ANSWER, simulation.now() + model.picos(ATOMIC_EXTRA_NANOS));
  }

  private void endTear(Message message) {
    SimQueuePair pair = message.queuePair();
    pair.torn = false;
    answer(message);
    while (!pair.torn && !pair.postponed.isEmpty()) {
      takeEffect(pair.postponed.remove());
    }
  }

  private void answer(Message message) {
    if (message.kind != Kind.READ || !isLate(message)) {
      answerNow(message);
    }
  }

  /**
   * Loses the answer of a READ if that fault strikes; it and all READs behind it are served again
   * later.
   */
  private boolean isLate(Message message) {
    SimQueuePair pair = message.queuePair();
    if (pair.late.isEmpty()) {
      long picos = faults.picosOf(Fault.LATE_READ);
      if (picos == 0) {
        return false;
      }
      simulation.at(simulation.now() + picos, () -> serveAgain(pair));
    }
    pair.late.add(message);
    return true;
  }

  private void serveAgain(SimQueuePair pair) {
    if (pair.torn) {
      simulation.at(simulation.now() + Simulation.NANO, () -> serveAgain(pair));
      return;
    }
    for (Message late : pair.late) {
      if (late.failure() == null && !late.refuse()) {
        late.apply();
      }
      answerNow(late);
    }
    pair.late.clear();
  }

  private void answerNow(Message message) {
    String because = outages.lostBecause(message);
    if (because == null && faults.strikes(Fault.LOST_COMPLETION)) {
      because = "its completion was lost";
    }
    if (because != null) {
      message.loseAnswer(notAnswered(message, because));
      next(message, Stage.FINISH, simulation.now() + model.picos(TIMEOUT_NANOS));
      return;
    }
    SimQueuePair pair = message.queuePair();
    long sent =
        memoryCard(message.queuePair().memoryServer).sendAnswer(simulation.now(), message.bytesIn);
    pair.delivery = Math.max(pair.delivery + 1, sent + way());
    next(message, Stage.RETURN, pair.delivery);
  }

  private void comeBack(Message message) {
    long received =
        computeCard(message.queuePair().computeServer)
            .receiveAnswer(simulation.now(), message.bytesIn);
    next(message, Stage.FINISH, received + model.picos(COMPLETION_NANOS));
  }

  private void finish(Message message) {
    SimQueuePair pair = message.queuePair();
    pair.reads -= message.kind == Kind.READ ? 1 : 0;
    while (!pair.behindReads.isEmpty() && !pair.behindReads.element().followsReads()) {
      sendNow(pair.behindReads.remove());
    }
    message.finish();
  }

  @Override
  public boolean hasRemoteProcessor() {
    return false;
  }

  @Override
  long processing(int memoryServer) {
    return Arrays.stream(processors[memoryServer]).mapToLong(Resource::busy).sum();
  }
}
