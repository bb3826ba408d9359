package pando.sim.nic;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.VerbList.Kind;
import pando.fabric.Worker;

/**
 * One verb on its way: from the client's card to the memory server's, and back. Made once and
 * posted again and again.
 */
public final class Message implements Runnable {
  /** Aligned bytes that land as one. */
  public static final int ATOMICITY_BYTES = 64;

  /** Where a message is. */
  enum Stage {
    AT_CLIENT,
    AT_SERVER,
    IN_MEMORY,
    BEHIND_ATOMIC,
    BACK,
    DONE
  }

  private final Network network;
  private final Runnable owner;
  private final Worker memory;
  final Lane[] lanes;
  Stage stage = Stage.DONE;

  /** The verb, or {@code null} for a CALL. */
  @Nullable Kind kind;

  /** Number of the compute server. */
  int client;

  int server;
  long remote;
  long local;
  int length;
  private long a;
  private long b;
  private long c;
  private long d;

  /** Function and handler of a CALL. */
  int function;

  private @Nullable Call call;

  /** Bytes of payload to the memory server, and back. */
  int bytesOut;

  int bytesIn;

  private long result;
  @Nullable RuntimeException failure;
  @Nullable Message next;

  /** Has a memory server serve a CALL. */
  @FunctionalInterface
  public interface Call {
    /** Serves it; returns the length of the response. */
    int serve();
  }

  /**
   * Creates a message.
   *
   * @param owner told each time that the message is done
   * @param memory where the verb takes effect
   * @param lanes of the owner to each memory server
   */
  public Message(Network network, Runnable owner, Worker memory, Lane[] lanes) {
    this.network = network;
    this.owner = owner;
    this.memory = memory;
    this.lanes = lanes;
  }

  /** Makes this a verb. */
  public Message verb(Kind newKind, int newServer, long newRemote, long newLocal, int newLength) {
    kind = newKind;
    server = newServer;
    remote = newRemote;
    local = newLocal;
    length = newLength;
    bytesOut = newKind == Kind.WRITE ? newLength : newKind.operandBytes();
    bytesIn = newKind == Kind.READ ? newLength : newKind.resultBytes();
    failure = null;
    return this;
  }

  /** Sets the compute server that posts this. */
  public Message from(int computeServer) {
    client = computeServer;
    return this;
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
  public Message call(int newServer, int newFunction, int requestBytes, Call newCall) {
    kind = null;
    server = newServer;
    function = newFunction;
    call = newCall;
    bytesOut = requestBytes;
    bytesIn = 0;
    failure = null;
    return this;
  }

  /** Returns what an atomic found, 1 for a 16-byte one that stored, or a response's length. */
  public long result() {
    return result;
  }

  /** Returns the local offset of the verb. */
  public long local() {
    return local;
  }

  /** Tells whether the value that was found belongs to a local offset. */
  public boolean returnsWord() {
    return kind != null && kind.isAtomic() && kind != Kind.MASKED_CAS_16;
  }

  /** Returns why the verb failed, or {@code null}. */
  public @Nullable RuntimeException failure() {
    return failure;
  }

  /** Lets the verb take effect at once, in no time. */
  public void applyNow() {
    apply();
  }

  void fail(RuntimeException because) {
    failure = because;
  }

  @Override
  public void run() {
    network.advance(this);
  }

  /** Tells whether this is an atomic on host memory. */
  boolean isOnHost() {
    return kind != null && kind.isAtomic() && !GlobalAddress.isOnChip(remote);
  }

  /** Tells whether this moves more than lands as one. */
  boolean isLong() {
    return (kind == Kind.READ || kind == Kind.WRITE) && length > ATOMICITY_BYTES;
  }

  Lane lane() {
    return lanes[server];
  }

  void finish() {
    owner.run();
  }

  /** Lets the verb take effect; tells whether an atomic stored. */
  boolean apply() {
    try {
      return applyTo(memory);
    } catch (RuntimeException e) {
      failure = e;
      return false;
    }
  }

  private boolean applyTo(Worker worker) {
    if (kind == null) {
      bytesIn = Objects.requireNonNull(call).serve();
      result = bytesIn;
      return true;
    }
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
    try {
      if (kind == Kind.READ) {
        memory.read(remote + offset, local + offset, bytes);
      } else {
        memory.write(remote + offset, local + offset, bytes);
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }
}
