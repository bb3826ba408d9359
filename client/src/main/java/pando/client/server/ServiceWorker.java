package pando.client.server;

import java.lang.System.Logger.Level;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.FencedException;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.server.CallFailedException;
import pando.index.CorruptNodeException;
import pando.index.Metered;
import pando.index.NotServedHereException;

/**
 * Carries out one operation after the other, with a session of its own. Takes an operation from a
 * request, and adds the result to a response; both are in its fields. Not thread-safe.
 *
 * @param <S> session of what the index has, words or byte strings
 */
abstract class ServiceWorker<S extends AutoCloseable> {
  private static final System.Logger LOG = System.getLogger(ServiceWorker.class.getName());

  private final Metered index;
  private final Supplier<S> opens;
  private @Nullable S session;

  /** Kind of the frame that it came by; {@link ClientFrame#OPERATIONS} has one operation. */
  int kind;

  int op;
  int id;
  long sequence;

  int outcome;

  /** The key of the result; of byte strings, its length. */
  long foundKey;

  /** The value of the result; of byte strings, its length. */
  long foundValue;

  String text = "";

  /** What it failed with for no reason that clients could know, {@code null} if it did not. */
  @Nullable Throwable unexpected;

  /** Creates one that opens its session with its first operation. */
  ServiceWorker(Metered index, Supplier<S> opens) {
    this.index = index;
    this.opens = opens;
  }

  /** Returns the session, {@code null} if it is not open yet. */
  final @Nullable S opened() {
    return session;
  }

  /** Returns the session, which is opened first if it is not open yet. */
  final S session() {
    S open = session;
    if (open == null) {
      open = opens.get();
      session = open;
    }
    return open;
  }

  /** Returns whether the requests of a kind are for what the index has, words or byte strings. */
  abstract boolean takes(int requestKind);

  /** Takes what the operation is given, at the place of the frame. */
  abstract void takeArguments(FrameReader request);

  /**
   * Has the session expect operations that have come, from the next one on, if that is of use;
   * returns how many.
   */
  int expect(FrameReader requests) {
    return 0;
  }

  /** Returns the key of the operation; 0 of byte strings. */
  abstract long key();

  /** Carries out the operation; the outcome is {@link Outcome#NO} before. */
  abstract void operate();

  /** Forgets what was found, but for the fields of this class. */
  abstract void forget();

  /** Adds what comes behind the result of a response of its own; returns how many parts. */
  abstract int addFound(FrameWriter response);

  /** Returns the flags of a response of its own. */
  abstract int flags();

  /** Gives back memory that the operation took, as its result was taken. */
  abstract void releaseMemory();

  /** Closes its session; the lane goes on if that fails. */
  final void close() {
    try {
      if (session != null) {
        session.close();
      }
    } catch (Exception | Error e) {
      LOG.log(Level.WARNING, "a session of the service cannot be closed", e);
    }
  }

  /** Takes the operation at the place of a request, and goes behind it. */
  final void take(FrameReader request) {
    kind = request.kind();
    sequence = request.sequence();
    int bytes = request.left();
    op = (int) request.word(0) & 0xff;
    if (kind == ClientFrame.OPERATIONS) {
      id = (int) (request.word(0) >>> 16) & 0xffff;
      bytes = Op.bytes(op);
    }
    int end = request.place() + bytes;
    if (takes(kind)) {
      takeArguments(request);
    }
    request.place(end);
  }

  /** Adds the result to a response. */
  final void addResult(FrameWriter response) {
    response.result(outcome, kind == ClientFrame.OPERATIONS ? id : 0, foundKey, foundValue, text);
  }

  /** Returns whether the operation was done. */
  final boolean succeeded() {
    return outcome <= Outcome.YES || outcome == Outcome.FURTHER;
  }

  /** Carries out the operation that it has taken. */
  final void carryOut() {
    begin();
    if (!takes(kind)) {
      outcome = Outcome.OTHER_KIND;
      text = ClientFrame.isOfStrings(kind) ? "it serves words" : "it serves byte strings";
      return;
    }
    try {
      operate();
    } catch (Throwable e) {
      begin();
      failSafely(e);
    }
  }

  /** Fails also where nothing can be said of it: a worker that ended would never answer. */
  private void failSafely(Throwable e) {
    try {
      fail(e);
    } catch (Throwable another) {
      // No memory for the text, for example.
      text = "";
      unexpected = another;
      outcome = isChange() ? Outcome.UNKNOWN : Outcome.FAILED;
    }
  }

  private void begin() {
    outcome = Outcome.NO;
    foundKey = 0;
    foundValue = 0;
    text = "";
    unexpected = null;
    forget();
  }

  private void fail(Throwable e) {
    text = String.valueOf(e.getMessage());
    outcome =
        switch (e) {
          case NotServedHereException _ -> Outcome.NOT_MINE;
          case PoolFullException _ -> Outcome.FULL;
          case CorruptNodeException corrupt -> {
            foundValue = corrupt.address();
            yield Outcome.CORRUPT;
          }
          case MemoryServerLostException _ -> Outcome.LOST;
          case StalledException _ -> Outcome.STALLED;
          case FencedException _ -> Outcome.FENCED;
          case UnknownOutcomeException _ -> Outcome.UNKNOWN;
          case CallFailedException _ -> Outcome.CALL_FAILED;
          case InvalidAddressException _ -> Outcome.INVALID_ADDRESS;
          case PandoException _ -> Outcome.FAILED;
          default -> failUnexpectedly(e);
        };
    if (outcome == Outcome.NOT_MINE) {
      text = "";
    }
  }

  private int failUnexpectedly(Throwable e) {
    if (index.isClosed() && !UnknownOutcomeException.isSaidBy(e)) {
      return Outcome.CLOSED;
    }
    LOG.log(Level.ERROR, () -> "an operation failed: kind=" + kind + ", op=" + Op.name(op), e);
    text = e.toString();
    unexpected = e;
    // An error says whether the operation may have happened; of all else that is not known.
    boolean mayHaveHappened =
        e instanceof Error ? UnknownOutcomeException.isSaidBy(e) : session != null && isChange();
    return mayHaveHappened ? Outcome.UNKNOWN : Outcome.FAILED;
  }

  private boolean isChange() {
    boolean isScan = kind == ClientFrame.SCAN || kind == ClientFrame.BYTE_SCAN;
    return !isScan && !Op.isRead(op);
  }
}
