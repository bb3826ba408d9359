package pando.sim.network;

import static pando.sim.ClusterModel.Constant.ACK_NANOS;
import static pando.sim.ClusterModel.Constant.ATOMIC_BUCKETS;
import static pando.sim.ClusterModel.Constant.BYTES_PER_NANO;
import static pando.sim.ClusterModel.Constant.HEADER_BYTES;
import static pando.sim.ClusterModel.Constant.MESSAGE_NANOS;
import static pando.sim.ClusterModel.Constant.ON_CHIP_CONFLICT_NANOS;
import static pando.sim.ClusterModel.Constant.ON_CHIP_NANOS;
import static pando.sim.ClusterModel.Constant.PARKED_MAX;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.layout.ServerLayout;
import pando.sim.ClusterModel;
import pando.sim.time.Resource;
import pando.sim.time.Simulation;

/**
 * A network card: two directions, and atomics on host memory and on its own.
 *
 * <p>An atomic on host memory takes a bucket, by low address bits, for two PCIe transactions.
 * Atomics whose bucket is taken are parked, up to a small number. When that is reached, the card
 * takes no further message from the wire, so all messages wait behind the conflict.
 */
final class Card {
  private final ClusterModel model;
  private final double picosPerByte;
  private final Resource out = new Resource();
  private final Resource in = new Resource();
  private final Resource onChip = new Resource();

  /** Messages that have arrived and were not taken yet. */
  final Deque<Message> wire = new ArrayDeque<>();

  private final int bucketMask;
  private final boolean[] taken;
  private final @Nullable Message[] first;
  private final @Nullable Message[] last;
  private final int parkedMax;
  private int parked;
  private final long[] wordFreeAt = new long[ServerLayout.ON_CHIP_BYTES / Long.BYTES];

  Card(ClusterModel model) {
    this.model = model;
    picosPerByte = Simulation.NANO / model.value(BYTES_PER_NANO);
    int buckets = (int) model.value(ATOMIC_BUCKETS);
    bucketMask = buckets - 1;
    taken = new boolean[buckets];
    first = new @Nullable Message[buckets];
    last = new @Nullable Message[buckets];
    parkedMax = (int) model.value(PARKED_MAX);
  }

  /** Returns when a message has been sent. */
  long send(long now, int payloadBytes) {
    return out.serve(now, work(payloadBytes));
  }

  /** Returns when a message has been received. */
  long receive(long now, int payloadBytes) {
    return in.serve(now, work(payloadBytes));
  }

  /** Returns when an answer has been sent; one without payload is an acknowledgement. */
  long sendAnswer(long now, int payloadBytes) {
    return out.serve(now, answerWork(payloadBytes));
  }

  /** Returns when an answer has been received. */
  long receiveAnswer(long now, int payloadBytes) {
    return in.serve(now, answerWork(payloadBytes));
  }

  private long answerWork(int payloadBytes) {
    return payloadBytes == 0 ? model.picos(ACK_NANOS) : work(payloadBytes);
  }

  /** Returns how long a message keeps the card busy; it works while bytes arrive. */
  private long work(int payloadBytes) {
    double bytes = payloadBytes + model.value(HEADER_BYTES);
    return Math.max(model.picos(MESSAGE_NANOS), (long) (bytes * picosPerByte));
  }

  /** Returns the total time for which the card has sent, in picoseconds. */
  long sending() {
    return out.busy();
  }

  /** Returns the total time for which the card has received, in picoseconds. */
  long receiving() {
    return in.busy();
  }

  /** Returns whether a message can be taken from the wire. */
  boolean hasRoom(Message message) {
    return !message.isOnHost() || !isTaken(message) || parked < parkedMax;
  }

  /** Returns whether an atomic's bucket is taken. */
  boolean isTaken(Message atomic) {
    return taken[bucket(atomic)];
  }

  void take(Message atomic) {
    taken[bucket(atomic)] = true;
  }

  void park(Message atomic) {
    int bucket = bucket(atomic);
    Message before = last[bucket];
    if (before == null) {
      first[bucket] = atomic;
    } else {
      before.next = atomic;
    }
    atomic.next = null;
    last[bucket] = atomic;
    parked++;
  }

  /** Frees an atomic's bucket, or passes it to the next parked atomic, which is returned. */
  @Nullable Message passOn(Message atomic) {
    int bucket = bucket(atomic);
    Message next = first[bucket];
    if (next == null) {
      taken[bucket] = false;
      return null;
    }
    parked--;
    first[bucket] = next.next;
    if (next.next == null) {
      last[bucket] = null;
    }
    return next;
  }

  /**
   * Returns when a verb on the card's own memory takes effect: without PCIe, and after earlier
   * verbs on the same word.
   */
  long onChipEffect(long now, Message verb) {
    long word = GlobalAddress.offset(verb.remote) / Long.BYTES;
    int index = (int) word & (wordFreeAt.length - 1);
    long ready = onChip.serve(now, model.picos(ON_CHIP_NANOS));
    long effect = Math.max(ready, wordFreeAt[index]);
    wordFreeAt[index] = effect + model.picos(ON_CHIP_CONFLICT_NANOS);
    return effect;
  }

  private int bucket(Message atomic) {
    return (int) atomic.remote & bucketMask;
  }
}
