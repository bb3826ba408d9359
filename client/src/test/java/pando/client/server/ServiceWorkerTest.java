package pando.client.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import pando.client.wire.ClientFrame;
import pando.client.wire.Op;
import pando.client.wire.Outcome;
import pando.fabric.UnknownOutcomeException;
import pando.index.RangeIndex;
import pando.index.Session;

/** What a worker says of an operation that its session throws from. */
class ServiceWorkerTest {
  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    ClassLoader loader = ServiceWorkerTest.class.getClassLoader();
    return type.cast(Proxy.newProxyInstance(loader, new Class<?>[] {type}, handler));
  }

  private static WordWorker putThat(Throwable failure, boolean isClosed) {
    Session session =
        proxy(
            Session.class,
            (_, _, _) -> {
              throw failure;
            });
    RangeIndex index =
        proxy(
            RangeIndex.class,
            (_, method, _) -> method.getName().equals("session") ? session : isClosed);
    WordWorker worker = new WordWorker(index);
    worker.kind = ClientFrame.OPERATIONS;
    worker.op = Op.PUT;
    worker.carryOut();
    return worker;
  }

  @Test
  void shouldNotSayThatAChangeWasNotDoneAsTheIndexIsClosedWhereItMayHaveBeen() {
    Error failure = new InternalError("a test");
    assertThat(putThat(failure, true).outcome).isEqualTo(Outcome.CLOSED);
    failure.addSuppressed(new UnknownOutcomeException("a test"));
    assertThat(putThat(failure, false).outcome).isEqualTo(Outcome.UNKNOWN);
    assertThat(putThat(failure, true).outcome).isEqualTo(Outcome.UNKNOWN);
  }

  /** As where no memory is left for the text: a worker that ended would never answer. */
  @Test
  void shouldGoOnWhereNothingCanBeSaidOfAFailure() {
    RuntimeException failure =
        new RuntimeException() {
          private static final long serialVersionUID = 1L;

          @Override
          public String getMessage() {
            throw new InternalError("a test");
          }
        };
    assertThat(putThat(failure, false).outcome).isEqualTo(Outcome.UNKNOWN);
  }
}
