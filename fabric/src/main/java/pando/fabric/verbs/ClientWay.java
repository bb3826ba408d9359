package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Utf8;
import pando.fabric.server.CallFailedException;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.wire.CardAccess;

/**
 * A client of a memory server's card: its queue pair, if it has asked for one. Verbs take effect by
 * it, and CALLs come by it, one at a time; a CALL's response goes back from memory of this client's
 * own. Thread-safe.
 *
 * <p>Once it has ended, no verb and no CALL takes effect any more that came by the queue pair: one
 * that is served is waited for.
 */
final class ClientWay implements CardAccess.Way {
  /** Answers under way, at most. */
  static final int ANSWERS_MAX = 2;

  /** Number of the completions of answers, which no message has. */
  static final int ANSWER = -1;

  /** Beside an answer: the CALL was served. */
  static final int SERVED = 0;

  /** Beside an answer: it was not, and the answer says why. */
  static final int FAILED = 1;

  private final MemoryCard card;
  private final CallProcessor processor;
  private final NativeMemory message = NativeMemory.allocate(Worker.CALL_BYTES_MAX);
  private final Region region;
  private final WorkRequests answers = new WorkRequests(1);

  /** Gives everything back, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  private @Nullable QueuePair queuePair;
  private boolean serving;
  private boolean freed;

  /** Creates it, without a queue pair. */
  ClientWay(MemoryCard card, CallProcessor processor) {
    this.card = card;
    this.processor = processor;
    ends.addFirst(message::close);
    ends.addFirst(answers::close);
    try {
      region = card.device().register(message.segment(), IbvMr.LOCAL_WRITE);
      ends.addFirst(region::close);
    } catch (RuntimeException | Error e) {
      Closing.all(ends);
      throw e;
    }
  }

  /** Makes a queue pair in place of the one before. */
  @Override
  public int serve(MemorySegment request, int requestBytes) {
    end();
    awaitServed();
    if (requestBytes != Offer.REQUEST_BYTES) {
      throw new IllegalArgumentException(
          "no endpoint: bytes=" + requestBytes + ", expected=" + Offer.REQUEST_BYTES);
    }
    try {
      connect(Offer.endpoint(request)).write(request);
      return Offer.RESPONSE_BYTES;
    } catch (VerbsException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private synchronized Offer connect(Endpoint client) {
    QueuePair made = card.newQueuePair(processor);
    queuePair = made;
    processor.add(made.number(), this);
    made.connect(client);
    return card.offer(made.endpoint());
  }

  /**
   * Begins to serve a CALL: copies the request, so that its room can be given back.
   *
   * @param number of the queue pair by which it came
   * @return false if that has ended
   */
  synchronized boolean begin(int number, MemorySegment request) {
    QueuePair open = queuePair;
    if (open == null || open.number() != number) {
      return false;
    }
    message.segment().copyFrom(request);
    serving = true;
    return true;
  }

  /** Serves the CALL that has begun, and answers. */
  void serve(int function, int requestBytes, CardAccess.Calls calls) {
    int result = FAILED;
    int responseBytes = 0;
    try {
      responseBytes = calls.serve(function, message.segment(), requestBytes);
      result = SERVED;
    } catch (CallFailedException e) {
      responseBytes =
          Utf8.write(String.valueOf(e.getMessage()), message.segment(), 0, Worker.CALL_BYTES_MAX);
    } finally {
      served(result, responseBytes);
    }
  }

  private synchronized void served(int result, int responseBytes) {
    serving = false;
    notifyAll();
    QueuePair open = queuePair;
    if (open == null) {
      return;
    }
    answers.clear();
    answers.send(message.segment().address(), region.localKey(), responseBytes, result);
    answers.finish(ANSWER);
    try {
      open.post(answers);
    } catch (IllegalStateException moreCallsThanOne) {
      end();
    }
  }

  /** Ends what comes by its queue pair, but for a CALL that is served. */
  synchronized void end() {
    QueuePair old = queuePair;
    if (old != null) {
      queuePair = null;
      processor.remove(old.number());
      processor.destroy(old);
    }
  }

  private synchronized void awaitServed() {
    boolean interrupted = false;
    while (serving) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Frees its memory; it has ended, and serves no CALL. */
  synchronized void free() {
    if (!freed) {
      freed = true;
      // In order, and none if one before it failed: what the card still uses is not freed.
      ends.forEach(Runnable::run);
    }
  }

  @Override
  public void close() {
    end();
    awaitServed();
    free();
    card.forget(this);
    processor.addWays(-1);
  }
}
