package pando.index.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import pando.index.EntryVisitor;

class RoutedSessionTest {
  private final List<String> retired = new ArrayList<>();

  @Test
  void shouldEndEveryWorkerWhereOneThrowsAnError() {
    Routed session = new Routed();
    session.replace(0, "first");
    session.replace(1, "second");
    assertThatThrownBy(session::close)
        .isInstanceOf(StackOverflowError.class)
        .hasMessage("first")
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
    assertThat(retired).containsExactly("first", "second");
    session.close();
    assertThat(retired).hasSize(2);
  }

  /** Has workers that do nothing, and cannot be ended. */
  private final class Routed extends RoutedSession<String> {
    Routed() {
      super(2);
    }

    @Override
    protected boolean operate(Operation operation, long wanted, long stored) {
      return false;
    }

    @Override
    protected boolean neighbour(long wanted, boolean down) {
      return false;
    }

    @Override
    protected long visit(long from, long to, long limit, EntryVisitor visitor) {
      return 0;
    }

    @Override
    protected void checkIndexOpen() {}

    @Override
    protected void retire(String worker) {
      retired.add(worker);
      throw new StackOverflowError(worker);
    }
  }
}
