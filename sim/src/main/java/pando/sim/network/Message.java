package pando.sim.network;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.ComputeServer;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList.Kind;
import pando.fabric.VerbList.Outcome;
import pando.fabric.Worker;

/**
 * One verb on its way: from the compute server's card to the memory server's, and back. Made once
 * and posted many times.
 */
public final class Message implements Runnable {
  /** The next step of a message. */
  enum Stage {
    SEND,
    ARRIVE,
    TAKE_EFFECT,
    LEAVE_BUCKET,
    END_TEAR,
    ANSWER,
    RETURN,
    FINISH
  }

  private final Network network;
  private final LeastEpochs leastEpochs;
  private final Runnable owner;
  private final @Nullable Worker memory;
  private final SimQueuePair[] queuePairs;
  private SimQueuePair queuePair;
  Stage stage = Stage.SEND;

  /** The verb, or {@code null} for a CALL. */
  @Nullable Kind kind;

  long remote;
  private long local;
  int length;
  private long a;
  private long b;
  private long c;
  private long d;

  /** Function and handler of a CALL. */
  int function;

  private @Nullable Call call;

  private @Nullable ComputeServer sender;

  /** Bytes of payload to the memory server, and back. */
  int bytesOut;

  int bytesIn;

  /** Incarnation of the memory server when this was sent. */
  int incarnation;

  private long result;
  private @Nullable RuntimeException failure;
  private Outcome outcome = Outcome.DONE;

  /** The message that is parked behind this one. */
  @Nullable Message next;

  /** The execution of a CALL by a memory server. */
  @FunctionalInterface
  public interface Call {
    /** Serves the CALL; returns the length of the response. */
    int serve();

    /** Returns how much work that was, as {@link pando.fabric.server.CallHandler} has it. */
    default int workUnits(int responseBytes) {
      return 0;
    }
  }

  /**
   * Creates a message.
   *
   * @param owner run each time that the message is done
   * @param memory worker that executes verbs; {@code null} if this is never but a CALL
   * @param queuePairs of the owner, one to each memory server
   */
  public Message(
      Network network, Runnable owner, @Nullable Worker memory, SimQueuePair[] queuePairs) {
    this.network = network;
    this.leastEpochs = network.leastEpochs();
    this.owner = owner;
    this.memory = memory;
    this.queuePairs = queuePairs;
    this.queuePair = queuePairs[0];
  }

  /** Makes this a verb. */
  public Message verb(Kind newKind, int server, long newRemote, long newLocal, int newLength) {
    reset(server);
    kind = newKind;
    remote = newRemote;
    local = newLocal;
    length = newLength;
    bytesOut = newKind == Kind.WRITE ? newLength : newKind.operandBytes();
    bytesIn = bytesIn(newKind);
    return this;
  }

  private int bytesIn(Kind verb) {
    return verb == Kind.READ ? length : verb.resultBytes();
  }

  /** Sets the operands of an atomic. */
  public Message operands(long first, long second, long third, long fourth) {
    a = first;
    b = second;
    c = third;
    d = fourth;
    return this;
  }

  /** Makes this a CALL. */
  public Message call(int server, int newFunction, int requestBytes, Call newCall) {
    reset(server);
    kind = null;
    function = newFunction;
    call = newCall;
    bytesOut = requestBytes;
    bytesIn = 0;
    return this;
  }

  private void reset(int server) {
    queuePair = queuePairs[server];
    clearFailure();
  }

  private void clearFailure() {
    queuePair.error = null;
    failure = null;
    outcome = Outcome.DONE;
  }

  /** Says from whom this is sent; {@code null} for one that is never refused. */
  public void sendAs(@Nullable ComputeServer newSender) {
    sender = newSender;
  }

  /** Makes a message that was not done ready to be sent again. */
  public void repeat() {
    clearFailure();
    bytesIn = kind == null ? 0 : bytesIn(kind);
  }

  /** Returns from whom this was sent, or {@code null}. */
  @Nullable ComputeServer sender() {
    return sender;
  }

  /** Returns whether it failed as its sender's epoch is refused. */
  public boolean isRefused() {
    return failure instanceof FencedException;
  }

  /**
   * Returns the value that an atomic found, 1 for a 16-byte CAS that stored, or the length of a
   * response.
   */
  public long result() {
    return result;
  }

  /** Returns how much work a CALL was that was served; 0 for a verb, or one that failed. */
  int workUnits() {
    return kind != null || failure != null ? 0 : Objects.requireNonNull(call).workUnits(bytesIn);
  }

  /** Returns the local offset of the verb. */
  public long local() {
    return local;
  }

  /** Returns whether the result is a word to be stored at the local offset. */
  public boolean returnsWord() {
    return kind != null && kind.isAtomic() && kind != Kind.MASKED_CAS_16;
  }

  /** Returns why the verb failed, or {@code null}. */
  public @Nullable RuntimeException failure() {
    return failure;
  }

  /** Returns what a client that has heard of the failure knows. */
  public Outcome outcome() {
    return outcome;
  }

  /** Fails if the memory server refuses the epoch of its sender; returns whether it does. */
  public boolean refuse() {
    boolean refused = leastEpochs.refuses(this);
    if (refused) {
      fail(
          new FencedException(
              "this compute server is fenced: " + sender + ", by=" + queuePair.memoryServer));
    }
    return refused;
  }

  /** Lets the verb take effect at once; returns whether an atomic stored. */
  public boolean apply() {
    leastEpochs.checkEffect(this);
    try {
      return applyTo();
    } catch (RuntimeException e) {
      fail(e);
      return false;
    }
  }

  @Override
  public void run() {
    network.advance(this);
  }

  SimQueuePair queuePair() {
    return queuePair;
  }

  /** Returns whether this is an atomic on host memory. */
  boolean isOnHost() {
    return kind != null && kind.isAtomic() && !GlobalAddress.isOnChip(remote);
  }

  /** Returns whether this is a READ or a WRITE. */
  boolean moves() {
    return kind == Kind.READ || kind == Kind.WRITE;
  }

  /** Returns whether this has to wait for the answers to READs posted before it. */
  boolean followsReads() {
    return kind != Kind.READ && queuePair.reads > 0;
  }

  /** Ends the verb without effect, and with it the rest of its list. */
  public void fail(RuntimeException because) {
    failure = because;
    outcome = Outcome.NOT_DONE;
    queuePair.error = because;
    bytesIn = 0;
  }

  /** Loses the answer; a failure that it would have reported is still reported. */
  void loseAnswer(RuntimeException because) {
    if (failure == null) {
      failure = because;
      outcome = Outcome.UNKNOWN;
    }
  }

  void finish() {
    owner.run();
  }

  private boolean applyTo() {
    if (kind == null) {
      bytesIn = Objects.requireNonNull(call).serve();
      result = bytesIn;
      return true;
    }
    Worker worker = Objects.requireNonNull(memory);
    switch (kind) {
      case READ -> worker.read(remote, local, length);
      case WRITE -> worker.write(remote, local, length);
      case CAS -> {
        result = worker.cas(remote, a, b);
        return result == a;
      }
      case FAA -> result = worker.faa(remote, a);
      case MASKED_CAS -> {
        result = worker.maskedCas(remote, a, b, c, d);
        return ((result ^ a) & b) == 0;
      }
      case MASKED_FAA -> result = worker.maskedFaa(remote, a, b);
      case MASKED_CAS_16 -> {
        result = worker.maskedCas16(remote, local) ? 1 : 0;
        return result == 1;
      }
    }
    return true;
  }

  /** Lets a part of a READ or WRITE take effect. */
  void applyPart(int offset, int bytes) {
    leastEpochs.checkEffect(this);
    Worker worker = Objects.requireNonNull(memory);
    try {
      if (kind == Kind.READ) {
        worker.read(remote + offset, local + offset, bytes);
      } else {
        worker.write(remote + offset, local + offset, bytes);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  @Override
  public String toString() {
    return kind == null ? "CALL" : kind + " at " + GlobalAddress.toString(remote);
  }
}
