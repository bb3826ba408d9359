package pando.fabric.verbs;

import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import pando.fabric.RegisteredMemory;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.Worker;
import pando.fabric.layout.Regions;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.server.CallFailedException;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.wire.CardAccess;

/**
 * A worker's connection to one memory server: a queue pair, and a chain of verbs that are under way
 * by it or are gathered; or a CALL. It is made over the control connection, and made anew when it
 * has broken.
 */
final class CardConnection implements AutoCloseable {
  /** Verbs of a chain. */
  static final int CHAIN_MAX = 64;

  /** Completions of a queue pair, at most: of all verbs of a chain if one fails. */
  static final int DEPTH = CHAIN_MAX + 2;

  /** Among the numbers of a chain, that of a CALL's answer. A CALL is a chain of one. */
  private static final int ANSWER = CHAIN_MAX - 1;

  /** Among the numbers of a chain, that of an empty WRITE. */
  private static final int PROBE = CHAIN_MAX - 2;

  private static final SecureRandom PACKETS = new SecureRandom();
  private static final int ATTEMPTS_MAX = 3;

  private final Device device;
  private final CompletionQueue completions;
  private final Region local;
  private final Worker control;
  private final RegisteredMemory message;
  private final int server;
  private final long dramBytes;
  private final WorkRequests requests = new WorkRequests(CHAIN_MAX);
  private final WorkRequests probes = new WorkRequests(1);
  private final ReceiveRequest answer = new ReceiveRequest();

  /** What atomics found, 8 bytes for each verb of a chain. */
  private final NativeMemory found;

  private final Region foundRegion;
  private @Nullable QueuePair queuePair;
  private long remoteAddress;
  private int remoteKey;

  /** Number of the first verb of the chain. */
  private long first;

  private int reads;
  private boolean hasEmulated;
  private boolean underWay;
  private boolean sent;
  private boolean isCall;
  private boolean answered;
  private boolean probed;
  private int answerBytes;
  private int answerResult;

  /** Number in the chain of the first verb that failed, and why; {@code null} if none has. */
  private int failedAt;

  private @Nullable Status failure;

  /**
   * Creates it, not connected.
   *
   * @param local the worker's memory
   * @param control by which it is connected
   * @param message memory of the control worker
   */
  CardConnection(
      Device device,
      CompletionQueue completions,
      Region local,
      Worker control,
      RegisteredMemory message,
      int server,
      long dramBytes) {
    this.device = device;
    this.completions = completions;
    this.local = local;
    this.control = control;
    this.message = message;
    this.server = server;
    this.dramBytes = dramBytes;
    this.found = NativeMemory.allocate((long) CHAIN_MAX * Long.BYTES);
    try {
      this.foundRegion = device.register(found.segment(), IbvMr.LOCAL_WRITE);
    } catch (RuntimeException | Error e) {
      found.close();
      freeRequests();
      throw e;
    }
  }

  /**
   * Connects, unless it is connected. What an older queue pair has sent takes no effect any more.
   *
   * @throws VerbsException if the memory server has no card, or the cards cannot be connected
   * @throws StalledException if the memory server does not answer
   * @throws pando.fabric.FencedException if this compute server is fenced
   * @throws pando.fabric.MemoryServerLostException if the memory server is lost
   */
  void connect() {
    if (queuePair != null) {
      return;
    }
    QueuePair made = new QueuePair(device, completions, CHAIN_MAX, PACKETS.nextInt());
    try {
      Offer offer = ask(made.endpoint());
      made.connect(offer.endpoint());
      remoteAddress = offer.address();
      remoteKey = offer.remoteKey();
      queuePair = made;
    } finally {
      if (queuePair == null) {
        made.close();
      }
    }
  }

  /** Asks the memory server for a queue pair; asking again replaces the one that it has made. */
  private Offer ask(Endpoint own) {
    for (int attempt = 1; true; attempt++) {
      Offer.ask(own, message.segment());
      try {
        int bytes = control.call(server, CardAccess.FUNCTION, 0, Offer.REQUEST_BYTES);
        if (bytes != Offer.RESPONSE_BYTES) {
          throw new VerbsException(
              "not the answer to a request for a queue pair: server="
                  + server
                  + ", bytes="
                  + bytes);
        }
        return Offer.read(message.segment());
      } catch (CallFailedException e) {
        throw new VerbsException("no queue pair: server=" + server + ", because=" + e.getMessage());
      } catch (UnknownOutcomeException e) {
        if (attempt == ATTEMPTS_MAX) {
          throw new StalledException("no queue pair: server=" + server + ", because=" + e);
        }
      }
    }
  }

  /** Begins a chain. */
  void begin() {
    requests.clear();
    reads = 0;
    hasEmulated = false;
    isCall = false;
    failure = null;
  }

  /** Returns whether a further verb can be added to the chain. */
  boolean hasRoom() {
    return !requests.isFull() && !hasEmulated;
  }

  int size() {
    return requests.size();
  }

  void read(long remote, long offset, int bytes) {
    reads++;
    requests.transfer(
        IbvSendWr.READ,
        0,
        local.address() + offset,
        local.localKey(),
        bytes,
        at(remote, bytes),
        remoteKey);
  }

  void write(long remote, long offset, int bytes) {
    QueuePair pair = connected();
    int inline = bytes <= pair.inlineBytes() ? IbvSendWr.INLINE : 0;
    requests.transfer(
        IbvSendWr.WRITE,
        inline | behindReads(),
        local.address() + offset,
        local.localKey(),
        bytes,
        at(remote, bytes),
        remoteKey);
  }

  void cas(long remote, long expected, long desired) {
    requests.cas(
        behindReads(),
        room(),
        foundRegion.localKey(),
        at(remote, Long.BYTES),
        remoteKey,
        expected,
        desired);
  }

  void faa(long remote, long addend) {
    requests.faa(
        behindReads(), room(), foundRegion.localKey(), at(remote, Long.BYTES), remoteKey, addend);
  }

  /** Ends the chain with a CAS that may have to be repeated, before anything behind it is sent. */
  void emulated(long remote, long expected, long desired) {
    cas(remote, expected, desired);
    hasEmulated = true;
  }

  /** Gathers a CALL alone, whose response replaces the request. */
  void call(int function, long offset, int requestBytes) {
    isCall = true;
    requests.send(local.address() + offset, local.localKey(), requestBytes, function);
    answer.set(local.address() + offset, local.localKey(), Worker.CALL_BYTES_MAX);
  }

  /** Returns the length of a CALL's answer. */
  int answerBytes() {
    return answerBytes;
  }

  /** Returns whether a CALL was served; if not, the answer says why. */
  boolean isServed() {
    return answerResult == ClientWay.SERVED;
  }

  /** Returns what an atomic found. */
  long found(int index) {
    return Words.get(found.segment(), (long) index * Long.BYTES);
  }

  /**
   * Sends the chain.
   *
   * @param number of its first verb, which no verb of the worker had
   */
  void post(long number) {
    first = number;
    requests.finish(number);
    underWay = true;
    sent = false;
    answered = !isCall;
    probed = false;
    if (isCall) {
      connected().receive(answer, number + ANSWER);
    }
    connected().post(requests);
  }

  /**
   * Has the card find out whether the memory server is there, while a CALL is served: sends an
   * empty WRITE, unless one is under way.
   */
  void probe() {
    if (isCall && sent && !answered && !probed) {
      probed = true;
      probes.clear();
      probes.transfer(IbvSendWr.WRITE, 0, 0, 0, 0, remoteAddress, remoteKey);
      probes.finish(first + PROBE);
      connected().post(probes);
    }
  }

  /** Returns whether the chain was sent, and is not complete. */
  boolean isUnderWay() {
    return underWay;
  }

  /** Notes a completion if it is of this chain. */
  void complete(CompletionQueue from, int completion) {
    long index = from.number(completion) - first;
    if (!underWay || index < 0 || index >= CHAIN_MAX) {
      return;
    }
    Status status = from.status(completion);
    if (status != Status.SUCCESS && failure == null) {
      failure = status;
      failedAt = (int) Math.min(index, requests.size() - 1);
    }
    if (isCall && index == ANSWER) {
      answered = true;
      answerBytes = from.bytes(completion);
      answerResult = from.immediate(completion);
    } else if (isCall && index == PROBE) {
      probed = false;
    } else {
      sent = index == requests.size() - 1;
    }
    underWay = !(sent && answered);
  }

  /** Returns why the chain failed, {@code null} if it did not. */
  @Nullable Status failure() {
    return failure;
  }

  /** Returns the number in the chain of the first verb that failed. */
  int failedAt() {
    return failedAt;
  }

  /** Ends the chain without its completions: what it did is not known. */
  void giveUp() {
    failure = Status.RESPONSE_TIMEOUT;
    failedAt = 0;
    underWay = false;
  }

  /** Makes what is under way complete, with an error. */
  void breakUp() {
    connected().breakUp();
  }

  /** Gives the queue pair up; the next verbs are sent by another one. */
  void disconnect() {
    QueuePair old = queuePair;
    queuePair = null;
    underWay = false;
    if (old != null) {
      old.close();
    }
  }

  /** Lets a WRITE or an atomic wait for the READs before it, which may be served again later. */
  private int behindReads() {
    boolean first = reads > 0;
    reads = 0;
    return first ? IbvSendWr.FENCE : 0;
  }

  private long room() {
    return foundRegion.address() + (long) requests.size() * Long.BYTES;
  }

  private long at(long remote, int bytes) {
    return remoteAddress + Regions.position(dramBytes, remote, bytes);
  }

  private QueuePair connected() {
    QueuePair pair = queuePair;
    if (pair == null) {
      throw new IllegalStateException("not connected: server=" + server);
    }
    return pair;
  }

  @Override
  public String toString() {
    return "server=" + server + ", card=" + device.name();
  }

  @Override
  public void close() {
    disconnect();
    foundRegion.close();
    found.close();
    freeRequests();
  }

  private void freeRequests() {
    requests.close();
    probes.close();
    answer.close();
  }
}
