package pando.client.server;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import pando.client.Routes;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.client.wire.FrameWriter;
import pando.client.wire.Outcome;
import pando.client.wire.RequestCheck;
import pando.client.wire.StatusWord;
import pando.fabric.wire.FrameException;

/**
 * Frames of one client. Operations are taken from the request that came first, one at a time, by
 * any worker; results gather in one response until it is finished. Not thread-safe.
 */
final class FrameExchange {
  /** Results of so many bytes wait before nothing more is taken. */
  static final int UNSENT_MAX = ClientFrame.BYTES_MAX;

  /** A response that has so many bytes takes no further result. */
  private static final int RESPONSE_FULL =
      ClientFrame.BYTES_MAX - ClientFrame.RESULT_BYTES - ClientFrame.TEXT_MAX;

  private final ServiceFacts facts;
  private final BooleanSupplier mayAnswerLong;
  final FrameReader requests = FrameReader.ofRequests();
  final FrameWriter responses = new FrameWriter();

  /** Operations of the open request that were not taken yet. */
  int untaken;

  /** Operations that were taken and not answered yet. */
  int underWay;

  /** Operations that are not taken yet, and that a worker's session expects. */
  private int expected;

  /** Requests that were opened. */
  long opened;

  /** Why the exchange ends, {@code null} before that. */
  private @Nullable String goodbye;

  private boolean isRefused;

  /** Whether the goodbye is added; nothing comes behind it. */
  boolean saidGoodbye;

  /** Whether there may be something to be sent, or read, since this was {@code false} last. */
  boolean hasNews;

  /**
   * Begins an exchange.
   *
   * @param mayAnswerLong returns whether there is memory for a long response; where not, the caller
   *     advances it once there is
   */
  FrameExchange(ServiceFacts facts, BooleanSupplier mayAnswerLong) {
    this.facts = facts;
    this.mayAnswerLong = mayAnswerLong;
  }

  /** Opens requests until one has operations to be taken, or none is there. */
  void advance() {
    try {
      boolean goesOn = true;
      while (goesOn && untaken == 0 && goodbye == null && (requests.isOpen() || requests.open())) {
        goesOn = open();
      }
    } catch (FrameException e) {
      // The connection ends after a request that makes no sense.
      untaken = 0;
      isRefused = true;
      leave(String.valueOf(e.getMessage()));
    }
  }

  /** Returns whether the open request does not wait. */
  private boolean open() throws FrameException {
    opened++;
    RequestCheck.check(requests);
    if (requests.kind() == ClientFrame.ROUTES && !mayAnswerRoutes()) {
      return false;
    }
    switch (requests.kind()) {
      case ClientFrame.ROUTES -> answerRoutes();
      case ClientFrame.STATUS -> answerStatus();
      case ClientFrame.SCAN, ClientFrame.BYTES, ClientFrame.BYTE_SCAN -> untaken = 1;
      default -> untaken = requests.count();
    }
    if (untaken == 0) {
      requests.next();
    }
    return true;
  }

  /** Returns whether there is room for routes, which of byte strings may be long. */
  private boolean mayAnswerRoutes() {
    return !facts.index().isOfStrings()
        || (responses.unsent() < UNSENT_MAX && mayAnswerLong.getAsBoolean());
  }

  /** Returns whether a request waits until there is room for its response. */
  boolean awaitsRoom() {
    return requests.isOpen() && untaken == 0 && goodbye == null;
  }

  /** Returns whether an operation can be taken. */
  boolean hasOperation() {
    return untaken > 0 && goodbye == null && responses.unsent() < UNSENT_MAX;
  }

  /** Gives a worker the next operation; returns whether its request has no other. */
  boolean take(ServiceWorker<?> worker) {
    if (expected == 0) {
      expected = worker.expect(requests);
    }
    expected = Math.max(0, expected - 1);
    worker.take(requests);
    underWay++;
    untaken--;
    if (untaken > 0) {
      return false;
    }
    requests.next();
    advance();
    hasNews = true;
    return true;
  }

  /** Takes the result of a worker. */
  void answer(ServiceWorker<?> worker) {
    underWay--;
    if (worker.kind == ClientFrame.OPERATIONS) {
      if (responses.kind() != 0
          && (responses.length() > RESPONSE_FULL
              || responses.count() == ClientFrame.OPERATIONS_MAX)) {
        finish();
      }
      if (responses.kind() == 0) {
        responses.begin(ClientFrame.OPERATIONS);
      }
      worker.addResult(responses);
    } else {
      finish();
      responses.begin(worker.kind);
      worker.addResult(responses);
      responses.count(worker.addFound(responses));
      responses.finish(worker.flags(), worker.sequence, facts.epoch());
    }
    hasNews = true;
  }

  private void answerRoutes() {
    finish();
    Routes routes = facts.routes().get();
    responses.begin(ClientFrame.ROUTES);
    for (Routes.Route route : routes.routes()) {
      responses.route(route.low(), route.owner(), route.address());
      if (routes.isOfStrings()) {
        responses.fence(route.fence());
      }
    }
    int flags = routes.isPartitioned() ? ClientFrame.PARTITIONED : 0;
    flags |= routes.isOfStrings() ? ClientFrame.OF_STRINGS : 0;
    responses.finish(flags, requests.sequence(), routes.epoch());
    hasNews = true;
  }

  private void answerStatus() {
    finish();
    responses.begin(ClientFrame.STATUS);
    responses.result(Outcome.YES, 0, 0, 0, facts.index().metered().name());
    for (int place = 0; place < StatusWord.COUNT; place++) {
      responses.word(facts.statusWord().applyAsLong(place));
    }
    responses.count(StatusWord.COUNT);
    responses.finish(0, requests.sequence(), facts.epoch());
    hasNews = true;
  }

  /** Finishes the response in which results gather. */
  void finish() {
    if (responses.kind() != 0) {
      responses.finish(0, 0, facts.epoch());
    }
  }

  /** Ends the exchange once what is under way is answered; nothing more is taken. */
  void leave(String because) {
    if (goodbye == null) {
      goodbye = because;
      hasNews = true;
    }
  }

  /** Finishes what is to be sent; adds the goodbye once all is answered. */
  void finishAll() {
    finish();
    if (goodbye != null && underWay == 0 && !saidGoodbye) {
      int flags = isRefused ? ClientFrame.REFUSED : 0;
      addGoodbye(responses, goodbye, flags, facts.epoch());
      saidGoodbye = true;
    }
  }

  /** Adds that nothing else was done or will be. */
  static void addGoodbye(FrameWriter responses, String because, int flags, long epoch) {
    responses.begin(ClientFrame.GOODBYE);
    responses.result(Outcome.NO, 0, 0, 0, because);
    responses.count(0);
    responses.finish(flags, 0, epoch);
  }
}
