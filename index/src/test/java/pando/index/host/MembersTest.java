package pando.index.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import pando.fabric.Backoff;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;

class MembersTest {
  private final List<String> events = new ArrayList<>();
  private final Members<TestServer, TestWorker> members = new Members<>(server -> new TestWorker());

  private final class TestServer extends HostedServer {
    TestServer(int number) {
      super(number, 0, 1);
    }

    @Override
    protected void forget(Backoff backoff) {}

    @Override
    protected long poolBytes() {
      return 100L + number;
    }

    @Override
    protected long cachedBytes() {
      return 1_000L + number;
    }

    @Override
    protected void trim(Worker worker, long message) {}

    @Override
    protected long admissions() {
      return 10L + number;
    }

    @Override
    protected long evictions() {
      return number;
    }

    @Override
    protected void stop() {
      events.add("stop " + number);
    }

    @Override
    public void close() {}
  }

  private final class TestWorker implements HostedWorker {
    private final VerbCounters verbs = new VerbCounters();

    @Override
    public VerbCounters verbs() {
      return verbs;
    }

    @Override
    public DescentCounters descents() {
      return new DescentCounters();
    }

    @Override
    public void close() {
      events.add("worker");
    }
  }

  private TestServer add(int number) {
    TestServer server = new TestServer(number);
    members.add(server);
    return server;
  }

  @Test
  void shouldStopServersOnceBeforeWorkersEnd() {
    TestServer server = add(2);
    add(3);
    members.worker(server);
    assertThat(members.end()).isTrue();
    assertThat(members.end()).isFalse();
    assertThat(events).containsExactly("stop 2", "stop 3", "worker");
    assertThatThrownBy(() -> members.worker(server)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldCountWhatServersCount() {
    add(2);
    add(3);
    assertThat(members.poolBytes()).isEqualTo(205);
    assertThat(members.cachedBytes()).isEqualTo(2_005);
    assertThat(members.totals().cacheCounters().admissions()).isEqualTo(25);
    assertThat(members.totals().cacheCounters().evictions()).isEqualTo(5);
  }

  @Test
  void shouldCountWorkersThatAreGone() {
    TestServer server = add(0);
    TestWorker worker = members.worker(server);
    worker.verbs().countRead(8);
    members.worker(server).verbs().countRead(8);
    members.retire(worker);
    members.retire(worker);
    assertThat(members.totals().verbs().reads).isEqualTo(2);
  }
}
