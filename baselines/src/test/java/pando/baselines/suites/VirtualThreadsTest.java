package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.Threads;

/** Many virtual threads on one index: a few carriers run them, and take none of them off. */
@FewRows(baselines = 0)
@Timeout(300)
class VirtualThreadsTest {
  private static final int SESSIONS = 50;
  private static final int OPERATIONS = 100;
  private static final int KEYS = 200;

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldServeMoreVirtualThreadsThanCarriers(SystemUnderTest system) throws Exception {
    run(system.defaults(), SESSIONS, KEYS);
  }

  /** Frames are short, so that threads wait for each other on most ways down. */
  @Test
  void shouldServeMoreVirtualThreadsThanFrames() throws Exception {
    run(SystemUnderTest.DEX.tiny(1), 200, 2_000);
  }

  private static void run(Configuration configuration, int sessions, int keys) throws Exception {
    long seed = Seeds.of(301);
    try (Fabric fabric = Pools.open(2, 64 << 20, seed);
        RangeIndex index = configuration.create(fabric)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int session = 0; session < sessions; session++) {
        SplittableRandom random = new SplittableRandom(seed + session);
        tasks.add(() -> {
          operate(index, keys, random);
          return null;
        });
      }
      Threads.run(Thread.ofVirtual().factory(), tasks);
    }
  }

  private static void operate(RangeIndex index, int keys, SplittableRandom random) {
    try (Session session = index.session()) {
      for (int i = 0; i < OPERATIONS; i++) {
        long key = random.nextInt(keys);
        switch (random.nextInt(4)) {
          case 0 -> session.remove(key);
          case 1 -> assertThat(session.get(key) ? session.value() : -key).isEqualTo(-key);
          default -> session.put(key, -key);
        }
      }
    }
  }
}
