package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.IbvSendWr;

/**
 * A worker's verbs for one memory server, which are gathered or under way: they are posted together
 * and make one completion, unless one of them fails; or a CALL. While it is under way, what it has
 * belongs to the thread that polls.
 */
final class Chain implements AutoCloseable {
  /** Verbs, at most. Each has a number among as many. */
  static final int MAX = 64;

  /** Bytes for what atomics find. */
  static final int FOUND_BYTES = MAX * Long.BYTES;

  /** Completions, at most: of all verbs if one fails. */
  static final int COMPLETIONS_MAX = MAX + 2;

  /** Among the numbers of a chain, that of a CALL's answer. A CALL is a chain of one. */
  private static final int ANSWER = MAX - 1;

  /** Among the numbers of a chain, that of an empty WRITE. */
  private static final int PROBE = MAX - 2;

  private final Region local;
  private final MemorySegment found;
  private final int foundKey;
  private final WorkRequests requests = new WorkRequests(MAX);
  private final WorkRequests probes = new WorkRequests(1);
  private final ReceiveRequest answer = new ReceiveRequest();
  private @Nullable CardConnection connection;

  /** Number of the first verb. */
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

  /** Place of the first verb whose failure is known, and why; {@code null} if none has failed. */
  private int failedAt;

  private @Nullable Status failure;
  private boolean undone;

  /**
   * Creates it, empty.
   *
   * @param local the worker's memory
   * @param found registered memory of {@link #FOUND_BYTES} for what atomics find
   * @param foundKey its local key
   */
  Chain(Region local, MemorySegment found, int foundKey) {
    this.local = local;
    this.found = found;
    this.foundKey = foundKey;
  }

  /** Begins anew, for verbs that go by a connection. */
  void begin(CardConnection by) {
    connection = by;
    requests.clear();
    reads = 0;
    hasEmulated = false;
    isCall = false;
    failure = null;
    undone = false;
  }

  /** Returns whether a further verb can be added. */
  boolean hasRoom() {
    return !requests.isFull() && !hasEmulated;
  }

  int size() {
    return requests.size();
  }

  void read(long remote, long offset, int bytes) {
    reads++;
    transfer(IbvSendWr.READ, 0, remote, offset, bytes);
  }

  void write(long remote, long offset, int bytes) {
    int inline = bytes <= connection().inlineBytes() ? IbvSendWr.INLINE : 0;
    transfer(IbvSendWr.WRITE, inline | behindReads(), remote, offset, bytes);
  }

  private void transfer(int operation, int flags, long remote, long offset, int bytes) {
    requests.transfer(
        operation,
        flags,
        local.address() + offset,
        local.localKey(),
        bytes,
        connection().address(remote, bytes),
        connection().key());
  }

  void cas(long remote, long expected, long desired) {
    requests.cas(
        behindReads(),
        room(),
        foundKey,
        connection().address(remote, Long.BYTES),
        connection().key(),
        expected,
        desired);
  }

  void faa(long remote, long addend) {
    requests.faa(
        behindReads(),
        room(),
        foundKey,
        connection().address(remote, Long.BYTES),
        connection().key(),
        addend);
  }

  /** Ends the chain with a CAS that may have to be repeated, before anything behind it is sent. */
  void emulated(long remote, long expected, long desired) {
    cas(remote, expected, desired);
    hasEmulated = true;
  }

  /** Adds a CALL, which goes alone, and whose response replaces the request. */
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
  long found(int place) {
    return Words.get(found, (long) place * Long.BYTES);
  }

  /**
   * Is under way from now on.
   *
   * @param number of its first verb, which no verb of the same completion queue had
   */
  void start(long number) {
    first = number;
    underWay = true;
    sent = false;
    answered = !isCall;
    probed = false;
    requests.finish(number);
  }

  /** Posts the verbs, after {@link #start}, and with them those of chains behind this one. */
  void post() {
    if (isCall) {
      connection().receive(answer, first + ANSWER);
    }
    connection().post(requests);
  }

  /** Puts another chain of the same connection behind this one, to be posted with it. */
  void setNext(Chain next) {
    requests.setNext(next.requests);
  }

  /**
   * Has the card find out whether the memory server is there, while a CALL is served: sends an
   * empty WRITE, unless one is under way.
   */
  void probe() {
    if (isCall && sent && !answered && !probed) {
      probed = true;
      probes.clear();
      Offer.Place place = connection().anyPlace();
      probes.transfer(IbvSendWr.WRITE, 0, 0, 0, 0, place.address(), place.key());
      probes.finish(first + PROBE);
      connection().post(probes);
    }
  }

  /** Returns whether it has started, and is not complete. */
  boolean isUnderWay() {
    return underWay;
  }

  /** Returns the number of the first verb. */
  long first() {
    return first;
  }

  /** Returns whether it is under way, and a number is one of its verbs'. */
  boolean has(long number) {
    return underWay && number >= first && number - first < MAX;
  }

  /** Notes the completion of one of its verbs. */
  void complete(CompletionQueue from, int completion) {
    int place = (int) (from.number(completion) - first);
    Status status = from.status(completion);
    if (status != Status.SUCCESS && failure == null) {
      failure = connection().fail(status);
      failedAt = Math.min(place, requests.size() - 1);
      undone = status == Status.FLUSHED && failure.isRefused();
    }
    if (isCall && place == ANSWER) {
      answered = true;
      answerBytes = from.bytes(completion);
      answerResult = from.immediate(completion);
    } else if (isCall && place == PROBE) {
      probed = false;
    } else {
      sent = place == requests.size() - 1;
    }
    underWay = !(sent && answered);
  }

  /** Returns why it failed, {@code null} if it did not. */
  @Nullable Status failure() {
    return failure;
  }

  /** Returns the place of the first verb that failed; those before it were done. */
  int failedAt() {
    return failedAt;
  }

  /** Returns whether it failed with nothing done, as another chain broke the connection. */
  boolean isUndone() {
    return undone;
  }

  /** Ends it without its completions: what it did is not known. */
  void giveUp() {
    failure = Status.RESPONSE_TIMEOUT;
    failedAt = 0;
    underWay = false;
  }

  /** Ends it before it was posted: nothing of it was done. */
  void giveUpUnsent() {
    giveUp();
    undone = true;
  }

  /** Lets a WRITE or an atomic wait for the READs before it, which may be served again later. */
  private int behindReads() {
    boolean isFirst = reads > 0;
    reads = 0;
    return isFirst ? IbvSendWr.FENCE : 0;
  }

  private long room() {
    return found.address() + (long) requests.size() * Long.BYTES;
  }

  /** Returns the connection that its verbs go by. */
  CardConnection connection() {
    return Objects.requireNonNull(connection, "not begun");
  }

  @Override
  public void close() {
    requests.close();
    probes.close();
    answer.close();
  }
}
