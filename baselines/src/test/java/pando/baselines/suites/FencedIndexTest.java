package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.FencedException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.local.LocalPool;
import pando.fabric.memory.Closing;
import pando.fabric.server.PoolOptions;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.tcp.TcpOptions;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Systems;

/** Every system on a compute server that is fenced under load. */
@FewRows
@Timeout(300)
class FencedIndexTest {
  private static final long SEED = 0x5EED_0013L;
  private static final ComputeServer NAME = new ComputeServer(9, 4);
  private static final int THREADS = 4;
  private static final int WARM = 300;
  private static final int KEYS = 20_000;

  /** Operations behind the first that was fenced. */
  private static final int MORE = 30;

  /** Of these one must be fenced: so many a cache does not answer alone. */
  private static final int MOST = 10_000;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#PRODUCTS")
  void shouldEndOverTcp(SystemUnderTest system) throws Exception {
    List<TcpMemoryServer> servers = new ArrayList<>();
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    for (int i = 0; i < 2; i++) {
      servers.add(TcpMemoryServer.start(any, i, pool()));
    }
    List<InetSocketAddress> addresses = servers.stream().map(TcpMemoryServer::address).toList();
    TcpOptions named = TcpOptions.defaults().withComputeServer(NAME);
    try (Fabric other = TcpFabric.attach(addresses, 1, TcpOptions.defaults());
        Fabric late = TcpFabric.attach(addresses, 2, named)) {
      fenceUnderLoad(system, other, late);
    } finally {
      Closing.all(servers.stream().<Runnable>map(server -> server::close).toList());
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldEndOverLocalMemory(SystemUnderTest system) throws Exception {
    LocalPool pool = LocalPool.start(pool());
    try (Fabric other = pool.fabric("local", 1);
        Fabric late = pool.attach(NAME, 2)) {
      fenceUnderLoad(system, other, late);
    }
  }

  private static void fenceUnderLoad(SystemUnderTest system, Fabric other, Fabric late)
      throws Exception {
    long seed = Seeds.of(SEED);
    RangeIndex index = system.tiny(2).create(late);
    AtomicLongArray done = new AtomicLongArray(THREADS);
    List<Future<Void>> clients = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (int i = 0; i < THREADS; i++) {
        clients.add(threads.submit(client(index, new SplittableRandom(seed + i), done, i)));
      }
      for (int i = 0; i < THREADS; i++) {
        while (done.get(i) < WARM && clients.get(i).state() == Future.State.RUNNING) {
          Thread.sleep(1);
        }
      }
      other.fence(NAME.number(), NAME.epoch() + 1);
      for (Future<Void> client : clients) {
        client.get(100, TimeUnit.SECONDS);
      }
      assertEndsInAFence(() -> {
        index.close();
        return true;
      });
    }
  }

  /** Operates until it is fenced, and some more. */
  private static Callable<Void> client(
      RangeIndex index, SplittableRandom random, AtomicLongArray done, int thread) {
    return () -> {
      Session session = index.session();
      while (assertEndsInAFence(() -> operate(session, random))) {
        done.incrementAndGet(thread);
      }
      // What is cached may still be answered.
      int fenced = 0;
      for (int i = 0; i < MORE || (fenced == 0 && i < MOST); i++) {
        if (!assertEndsInAFence(() -> operate(session, random))) {
          fenced++;
        }
      }
      assertThat(fenced).isPositive();
      assertEndsInAFence(() -> {
        session.close();
        return true;
      });
      return null;
    };
  }

  private interface Step {
    boolean run();
  }

  /** Returns whether a step has ended well; else it must have ended as a fence makes it. */
  private static boolean assertEndsInAFence(Step step) {
    try {
      return step.run();
    } catch (FencedException | UnknownOutcomeException | StalledException _) {
      return false;
    } catch (PandoException e) {
      return fail(e);
    }
  }

  private static boolean operate(Session session, SplittableRandom random) {
    long key = random.nextInt(KEYS);
    switch (random.nextInt(8)) {
      case 0, 1, 2 -> session.put(key, random.nextLong(1, 1 << 20));
      case 3 -> session.remove(key);
      case 4 -> session.scan(key, key + 100, (_, _) -> true);
      case 5 -> session.floor(key);
      default -> session.get(key);
    }
    return true;
  }

  private static PoolOptions pool() {
    return PoolOptions.defaults()
        .withMemoryServers(2)
        .withBytesPerServer(64 << 20)
        .withHandlers(Systems.handlers());
  }
}
