package pando.index.host;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.fabric.Worker;
import pando.index.CacheCounters;
import pando.index.PoolPart;
import pando.index.Pools;
import pando.index.session.LeafScan;
import pando.index.session.NeighbourSearch;
import pando.index.session.Request;

class MembersTest {
  private final List<String> events = new ArrayList<>();
  private Runnable whileStopping = () -> {};
  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final Members<TestServer, TestWorker> members =
      new Members<>((server, session) -> new TestWorker(server, session, new TestContext()));

  private final class TestServer extends HostedServer {
    TestServer(int number) {
      super(number, 0, 2);
    }

    @Override
    protected void forget(Backoff backoff) {}

    @Override
    protected List<PoolPart> kept() {
      return List.of();
    }

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
    protected CacheCounters events() {
      return CacheCounters.ofNodes(10L + number, number);
    }

    @Override
    public void stop() {
      events.add("stop " + number);
      whileStopping.run();
    }

    @Override
    public void close() {
      events.add("close " + number);
    }
  }

  private final class TestContext extends WorkerContext {
    TestContext() {
      super(fabric, new LocalMemory());
    }

    @Override
    public void abandon(Throwable failure) {}

    @Override
    public void close() {
      events.add("worker");
      super.close();
    }
  }

  private static final class NoSearch extends NeighbourSearch {
    @Override
    public Outcome look(long wanted, boolean down) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class NoScan extends LeafScan {
    NoScan() {
      super(failure -> {});
    }

    @Override
    protected int readLeaves(long from, long to, boolean down, long limit) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected long fence(int leaf, boolean down) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected int entriesMax(int leaf) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class TestWorker extends HostedWorker {
    TestWorker(TestServer server, int session, TestContext context) {
      super(server, session, context, new NoSearch(), new NoScan());
    }

    @Override
    protected double estimateSize(long low, long high) {
      return 0;
    }

    @Override
    protected boolean get(long wanted) {
      return false;
    }

    @Override
    protected boolean write(Request wanted) {
      return false;
    }

    @Override
    protected boolean mayHaveWritten() {
      return false;
    }

    @Override
    protected void complete() {}
  }

  @AfterEach
  void close() {
    fabric.close();
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
    members.end();
    assertThat(events).containsExactly("stop 2", "stop 3", "worker", "close 2", "close 3");
    assertThatThrownBy(() -> members.worker(server)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldCountWhatServersCount() {
    add(2);
    add(3);
    assertThat(members.poolBytes()).isEqualTo(205);
    assertThat(members.cachedBytes()).isEqualTo(2_005);
    assertThat(members.totals().cache().admissions()).isEqualTo(25);
    assertThat(members.totals().cache().evictions()).isEqualTo(5);
  }

  @Test
  void shouldCountWorkersThatAreGone() {
    TestServer server = add(0);
    TestWorker worker = requireNonNull(members.worker(server));
    worker.verbs().countRead(8);
    requireNonNull(members.worker(server)).verbs().countRead(8);
    assertThatThrownBy(() -> members.worker(server)).hasMessageContaining("too many sessions");
    members.retire(worker);
    members.retire(worker);
    members.worker(server);
    assertThat(members.totals().verbs().reads).isEqualTo(2);
  }

  /** Else counters that never fall would fall, and a reader takes that for a restart. */
  @Test
  void shouldCountAServerWhileItLeaves() {
    TestServer server = add(2);
    add(3);
    whileStopping =
        () -> {
          assertThat(members.poolBytes()).isEqualTo(205);
          assertThat(members.totals().cache().admissions()).isEqualTo(25);
        };
    members.retire(server);
    assertThat(members.poolBytes()).isEqualTo(205);
    assertThat(members.totals().cache().admissions()).isEqualTo(25);
    assertThat(events).containsExactly("stop 2", "close 2");
  }
}
