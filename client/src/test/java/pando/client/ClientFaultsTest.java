package pando.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.fabric.UnknownOutcomeException;

/** A client whose requests fail at each of their points, by errors, cuts, silence and close. */
class ClientFaultsTest {
  private static final String LOWER = "lower:1";
  private static final String UPPER = "upper:1";

  private final ScriptedHost host = new ScriptedHost();

  private PandoClient connect() {
    return PandoClient.connect(List.of(LOWER), ClientOptions.defaults(), host);
  }

  private void divide() {
    host.routes.add(new Routes.Route(Long.MIN_VALUE, 0, LOWER));
    host.routes.add(new Routes.Route(0, 1, UPPER));
  }

  private static ScriptedHost.Step error() {
    return () -> {
      throw new InternalError("a test");
    };
  }

  private static ScriptedHost.Step cut() {
    return () -> {
      throw new EOFException("cut by a test");
    };
  }

  /** More operations than go together wait for room, and nobody else looks at the time. */
  @Test
  void shouldEndABatchOfMoreOperationsThanAreUnderWayAtASilentServer() {
    try (PandoClient client = connect()) {
      ClientBatch batch = client.batch();
      for (int i = 0; i <= Connection.UNDER_WAY_MAX; i++) {
        batch.put(i, i);
      }
      host.isSilent = true;
      batch.run();
      assertThatThrownBy(() -> batch.result(0)).isInstanceOf(UnknownOutcomeException.class);
      host.isSilent = false;
    }
  }

  @Test
  void shouldNotFlushAgainAtTheHeirWhereTheConnectionIsCut() {
    try (PandoClient client = connect()) {
      assertThat(client.servesByteStrings()).isTrue();
      host.reads.add(ScriptedHost.Step.NONE);
      host.reads.add(ScriptedHost.Step.NONE);
      host.reads.add(cut());
      assertThatThrownBy(client::flush).isInstanceOf(UnknownOutcomeException.class);
      assertThat(host.flushes).isEqualTo(1);
    }
  }

  private Queue<ScriptedHost.Step> point(String point) {
    return switch (point) {
      case "write" -> host.writes;
      case "await" -> host.awaits;
      default -> host.reads;
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"write", "await", "read"})
  void shouldNotTakeTheAnswerOfAnOperationThatEndedInAnError(String point) {
    host.model.put(1L, 10L);
    host.model.put(2L, 20L);
    try (PandoClient client = connect();
        ClientSession session = client.session()) {
      point(point).add(error());
      assertThatThrownBy(() -> session.get(1)).isInstanceOf(InternalError.class);
      assertThat(session.get(2)).isTrue();
      assertThat(session.value()).isEqualTo(20);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write", "await", "read"})
  void shouldNotTakeTheAnswersOfABatchThatEndedInAnError(String point) {
    divide();
    host.model.put(-1L, 10L);
    host.model.put(1L, 11L);
    host.model.put(-2L, 20L);
    host.model.put(2L, 21L);
    try (PandoClient client = connect()) {
      ClientBatch batch = client.batch();
      batch.get(-1);
      batch.get(1);
      point(point).add(error());
      assertThatThrownBy(batch::run).isInstanceOf(InternalError.class);
      batch.clear();
      batch.get(2);
      batch.get(-2);
      batch.run();
      assertThat(batch.value(0)).isEqualTo(21);
      assertThat(batch.value(1)).isEqualTo(20);
    }
  }

  @Test
  void shouldGoOnAfterAnErrorWhileAnAnswerIsTaken() {
    Connection connection = new Connection(host, LOWER, 1, 1_000_000_000);
    Call failing =
        new Call() {
          @Override
          void takeResponse(FrameReader from) {
            throw new InternalError("a test");
          }
        };
    failing.begin(ClientFrame.ROUTES);
    assertThatThrownBy(() -> connection.ask(failing)).isInstanceOf(InternalError.class);
    assertThat(failing.isUnderWay()).isFalse();
    Call next = new Call();
    next.begin(ClientFrame.ROUTES);
    assertThat(connection.ask(next)).isTrue();
    connection.close();
  }

  @Test
  void shouldNotSayThatABatchHasNotHappenedWhereTheClientIsClosedWhileItIsSent() {
    divide();
    try (PandoClient client = connect()) {
      ClientBatch batch = client.batch();
      for (int i = 0; i <= Connection.UNDER_WAY_MAX; i++) {
        batch.put(-1 - i, 1);
      }
      // No room for the last one: what came before has gone.
      host.awaits.add(client::close);
      batch.run();
      assertThatThrownBy(() -> batch.result(0)).isInstanceOf(UnknownOutcomeException.class);
      assertThatThrownBy(() -> batch.result(Connection.UNDER_WAY_MAX))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  @SuppressWarnings("try") // It is closed in the middle.
  void shouldStayInterruptedWhereTheClientIsClosedWhileItPauses() {
    try (PandoClient client = connect();
        ClientSession session = client.session()) {
      session.get(1);
      for (int i = 0; i < 3; i++) {
        host.reads.add(cut());
      }
      host.pauses.add(() -> {
        Thread.currentThread().interrupt();
        client.close();
      });
      assertThatThrownBy(() -> session.get(1)).isInstanceOf(IllegalStateException.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void shouldStayInterruptedWhereAWaitEndsInAnError() {
    try (PandoClient client = connect();
        ClientSession session = client.session()) {
      host.isSilent = true;
      host.awaits.add(() -> Thread.currentThread().interrupt());
      host.awaits.add(error());
      assertThatThrownBy(() -> session.get(1)).isInstanceOf(InternalError.class);
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write", "await", "read"})
  void shouldNotReportResultsOfABatchThatEndedInAnError(String point) {
    try (PandoClient client = connect()) {
      ClientBatch batch = client.batch();
      batch.put(1, 10);
      batch.run();
      batch.clear();
      batch.put(1, 11);
      point(point).add(error());
      assertThatThrownBy(batch::run).isInstanceOf(InternalError.class);
      assertThatThrownBy(() -> batch.result(0))
          .isInstanceOf(
              point.equals("write") ? IllegalStateException.class : UnknownOutcomeException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write", "await", "read"})
  void shouldSayWhetherAChangeThatEndedInAnErrorMayHaveHappened(String point) {
    try (PandoClient client = connect();
        ClientSession session = client.session()) {
      point(point).add(error());
      assertThatThrownBy(() -> session.put(1, 10))
          .isInstanceOf(InternalError.class)
          .matches(e -> UnknownOutcomeException.isSaidBy(e) != point.equals("write"));
    }
  }

  /** Unchanged, so that a bug stays one. */
  @Test
  void shouldSayThatAChangeMayHaveHappenedWhereItsWaitFails() {
    try (PandoClient client = connect();
        ClientSession session = client.session()) {
      host.awaits.add(() -> {
        throw new IllegalStateException("a test");
      });
      assertThatThrownBy(() -> session.put(1, 10))
          .isInstanceOf(IllegalStateException.class)
          .matches(UnknownOutcomeException::isSaidBy);
    }
  }

  @Test
  void shouldCloseAHostThatFails() {
    int[] closes = new int[1];
    ClientHost failing =
        new ScriptedHost() {
          @Override
          public long random() {
            throw new IllegalStateException("no random numbers");
          }

          @Override
          public void close() {
            closes[0]++;
          }
        };
    ClientOptions options = ClientOptions.defaults();
    assertThatThrownBy(() -> PandoClient.connect(List.of(LOWER), options, failing))
        .hasMessage("no random numbers");
    assertThat(closes[0]).isEqualTo(1);
  }

  /** Begins something in other threads, all of which wait then, the first within a step. */
  private static List<Thread> startWaiting(Semaphore isWithin, Runnable action) {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread = Thread.ofPlatform().start(action);
      threads.add(thread);
      if (i == 0) {
        isWithin.acquireUninterruptibly();
      }
      while (thread.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
    }
    return threads;
  }

  private static ScriptedHost.Step waitAndCut(Semaphore isWithin, Semaphore goesOn) {
    return () -> {
      isWithin.release();
      goesOn.acquireUninterruptibly();
      throw new EOFException("cut by a test");
    };
  }

  /** It may take seconds each time, one after the other, as only one at a time opens it. */
  @Test
  void shouldNotOpenAConnectionOnceForEachThreadThatWaitedForIt() throws Exception {
    Semaphore isWithin = new Semaphore(0);
    Semaphore goesOn = new Semaphore(0);
    host.opens.add(waitAndCut(isWithin, goesOn));
    Connection connection = new Connection(host, LOWER, 1, 1_000_000_000);
    AtomicInteger failed = new AtomicInteger();
    List<Thread> threads =
        startWaiting(
            isWithin,
            () -> {
              Call call = new Call();
              call.begin(ClientFrame.ROUTES);
              failed.addAndGet(connection.ask(call) ? 0 : 1);
            });
    goesOn.release();
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(host.opened).isEqualTo(1);
    assertThat(failed).hasValue(4);
    Call later = new Call();
    later.begin(ClientFrame.ROUTES);
    assertThat(connection.ask(later)).isTrue();
    connection.close();
  }

  @Test
  void shouldNotAskForRoutesOnceForEachThreadThatWaitedForThem() throws Exception {
    try (ClientContext context =
        new ClientContext(List.of(LOWER), ClientOptions.defaults(), host)) {
      context.connect();
      RouteTable known = context.table();
      Semaphore isWithin = new Semaphore(0);
      Semaphore goesOn = new Semaphore(0);
      host.reads.add(waitAndCut(isWithin, goesOn));
      List<Thread> threads =
          startWaiting(isWithin, () -> context.refresh(known, known.routes().epoch()));
      goesOn.release();
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(host.opened).isEqualTo(1);
      context.refresh(known, known.routes().epoch());
      assertThat(host.opened).isEqualTo(2);
      assertThat(context.table()).isNotSameAs(known);
    }
  }

  /** What it had acknowledged and not written may be lost: its heir cannot say. */
  @Test
  void shouldNotSayThatAllIsWrittenWhereAnHeirAnswersForAServerThatIsNotReached() {
    divide();
    host.random = 1;
    try (PandoClient client = connect()) {
      host.opens.add(() -> {
        host.routes.set(1, new Routes.Route(0, 1, LOWER));
        throw new EOFException("not reached by a test");
      });
      assertThatThrownBy(client::flush)
          .isInstanceOf(UnknownOutcomeException.class)
          .hasMessageContaining(UPPER);
    }
  }

  /** As one that pauses for a while. */
  @Test
  void shouldFlushAtAServerThatIsReachedLater() {
    divide();
    host.random = 1;
    try (PandoClient client = connect()) {
      host.opens.add(cut());
      client.flush();
      assertThat(host.flushes).isEqualTo(2);
    }
  }
}
