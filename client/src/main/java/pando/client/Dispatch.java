package pando.client;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import pando.client.wire.Outcome;
import pando.fabric.FencedException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.index.bugs.PlantedBug;

/**
 * Sends calls of one thread to the compute servers that their keys belong to, and again where they
 * were certainly not done, or may be done twice: a call is settled when it is answered, or must not
 * be sent again. Not thread-safe.
 */
final class Dispatch {
  private static final long PAUSE_NANOS_MIN = 1_000_000;
  private static final long PAUSE_NANOS_MAX = 64_000_000;

  private final ClientContext context;
  private final List<Connection> used = new ArrayList<>();
  private final Call[] one = new Call[1];

  /** Why a call was sent again last. */
  private String lastReason = "";

  private boolean needsRoutes;

  /** To which a flush could not be sent first. */
  private @Nullable Connection unreached;

  Dispatch(ClientContext context) {
    this.context = context;
  }

  /** Settles a call; returns whether the answer is yes. Throws why it failed. */
  boolean run(Call call) {
    one[0] = call;
    run(one, 1);
    RuntimeException failure = call.failure;
    if (failure != null) {
      throw failure;
    }
    return call.outcome == Outcome.YES;
  }

  /**
   * Settles calls, of which each that failed has a failure afterwards.
   *
   * @param count those at the first places
   */
  void run(Call[] calls, int count) {
    boolean interrupted = false;
    long start = 0;
    int attempts = 0;
    unreached = null;
    RouteTable table = context.table();
    try {
      while (round(table, calls, count)) {
        interrupted |= Thread.interrupted();
        if (context.isClosed()) {
          settleClosed(calls, count);
          break;
        }
        if (needsRoutes) {
          long now = context.host().nanoTime();
          start = attempts == 0 ? now : start;
          if (now - start > context.patienceNanos()) {
            giveUp(calls, count, attempts, now - start);
            break;
          }
          interrupted |= pause(attempts++);
          if (!PlantedBug.ROUTES_KEPT) {
            context.refresh(table, table.routes().epoch());
          }
        }
        table = context.table();
      }
    } catch (RuntimeException | Error e) {
      abandon(calls, count, e);
      throw e;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void settleClosed(Call[] calls, int count) {
    for (int i = 0; i < count; i++) {
      if (!calls[i].isSettled) {
        calls[i].settle(new IllegalStateException("the client is closed"));
      }
    }
  }

  /**
   * Takes calls back from their connections, as this thread does not wait for them any more.
   * Settles those of which it is known what they came to.
   *
   * @param because has an {@link UnknownOutcomeException} suppressed if a change may have happened
   */
  private void abandon(Call[] calls, int count, Throwable because) {
    for (int i = 0; i < count; i++) {
      Connection its = calls[i].connection;
      if (its != null) {
        its.abandon(calls[i]);
      }
    }
    Call changed = null;
    for (int i = 0; i < count; i++) {
      Call call = calls[i];
      if (!call.isSettled) {
        settle(call);
        boolean mayHaveHappened = call.isSettled && !call.isRead() && isUnknownOrDone(call);
        changed = mayHaveHappened ? call : changed;
      }
    }
    if (changed != null) {
      because.addSuppressed(new UnknownOutcomeException(cut(changed)));
    }
  }

  private static boolean isUnknownOrDone(Call call) {
    return call.failure == null || call.failure instanceof UnknownOutcomeException;
  }

  /** Sends what is not settled, and waits for the answers; returns whether some must go again. */
  private boolean round(RouteTable table, Call[] calls, int count) {
    used.clear();
    for (int i = 0; i < count; i++) {
      if (!calls[i].isSettled) {
        send(table, calls[i]);
      }
    }
    for (int i = 0; i < used.size(); i++) {
      used.get(i).flush();
    }
    needsRoutes = false;
    boolean again = false;
    for (int i = 0; i < count; i++) {
      Call call = calls[i];
      Connection its = call.connection;
      if (its != null && !call.isSettled) {
        its.await(call);
      }
      settle(call);
      again |= !call.isSettled;
    }
    return again;
  }

  private void send(RouteTable table, Call call) {
    call.connection = null;
    Connection target = table.target(call);
    if (target == null) {
      call.end(Call.State.NOT_DONE, "the compute server of its range has no address");
      return;
    }
    try {
      target.send(call);
      if (!used.contains(target)) {
        used.add(target);
      }
    } catch (IOException e) {
      unreached = unreached == null && call.isFlush() ? target : unreached;
      call.end(
          Call.State.NOT_DONE,
          "cannot connect: address=" + target.address() + ", because=" + e.getMessage());
    }
  }

  private void settle(Call call) {
    if (call.isSettled) {
      return;
    }
    switch (call.state()) {
      case ANSWERED -> settleAnswered(call);
      case CUT -> {
        if ((call.isRead() && !call.isFlush()) || PlantedBug.SENT_TWICE) {
          sendAgain(call.text);
        } else if (PlantedBug.CUT_DONE) {
          call.outcome = Outcome.YES;
          call.settle(null);
        } else {
          call.settle(new UnknownOutcomeException(cut(call)));
        }
      }
      default -> sendAgain(call.text);
    }
  }

  private void settleAnswered(Call call) {
    switch (call.outcome) {
      case Outcome.NO, Outcome.YES -> call.settle(call.isFlush() ? heirsFlush(call) : null);
      case Outcome.FURTHER -> call.goOn();
      case Outcome.NOT_MINE ->
          sendAgain("the compute server asked does not own it: " + call.server());
      case Outcome.FENCED -> {
        if (call.isFlush()) {
          call.settle(new UnknownOutcomeException("others took its keys over: " + call.what()));
        } else {
          sendAgain(call.text);
        }
      }
      case Outcome.CLOSED -> sendAgain(call.text);
      default -> call.settle(AnswerFailures.of(call, call.server()));
    }
  }

  /** Returns why a flush fails which another compute server has done than was asked first. */
  @SuppressWarnings("ReferenceEquality") // Compared by identity.
  private @Nullable RuntimeException heirsFlush(Call call) {
    Connection lost = unreached;
    if (lost == null || lost == call.connection) {
      return null;
    }
    return new UnknownOutcomeException(
        "a compute server was not reached, and may be lost: %s, computeServer=%s, heir=%s"
            .formatted(call.what(), lost.address(), call.server()));
  }

  private static String cut(Call call) {
    return "the connection was cut before the answer: "
        + call.what()
        + ", computeServer="
        + call.server()
        + ", because="
        + call.text;
  }

  private void sendAgain(String because) {
    needsRoutes = true;
    lastReason = because;
  }

  private void giveUp(Call[] calls, int count, int attempts, long nanos) {
    for (int i = 0; i < count; i++) {
      Call call = calls[i];
      if (!call.isSettled) {
        boolean isFenced = call.state() == Call.State.ANSWERED && call.outcome == Outcome.FENCED;
        call.settle(
            isFenced
                ? new FencedException(call.text)
                : new StalledException(
                    "no compute server carries it out: %s, attempts=%d, milliseconds=%d, last=%s"
                        .formatted(
                            call.what(),
                            attempts,
                            TimeUnit.NANOSECONDS.toMillis(nanos),
                            lastReason)));
      }
    }
  }

  /** Pauses before an attempt but the first, longer each time; returns whether interrupted. */
  private boolean pause(int attempt) {
    boolean interrupted = false;
    long longest = Math.min(PAUSE_NANOS_MAX, context.patienceNanos());
    long nanos = attempt == 0 ? 0 : Math.min(longest, PAUSE_NANOS_MIN << Math.min(attempt, 6));
    ClientHost host = context.host();
    long end = host.nanoTime() + nanos;
    for (long left = nanos; left > 0 && !context.isClosed(); left = end - host.nanoTime()) {
      host.pause(left);
      interrupted |= Thread.interrupted();
    }
    return interrupted;
  }
}
