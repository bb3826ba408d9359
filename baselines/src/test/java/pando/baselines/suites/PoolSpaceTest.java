package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.Configuration;
import pando.index.PoolPart;
import pando.index.PoolSpace;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Seeds;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** Adds up all bytes of pools. */
@FewRows
class PoolSpaceTest {
  private static final int KEYS = 3_000;
  private static final int CHANGES = 6_000;

  static long dramBytes(Fabric fabric) {
    return IntStream.range(0, fabric.memoryServers()).mapToLong(fabric::dramBytes).sum();
  }

  private static PoolPart part(PoolSpace space, String name) {
    return space.parts().stream()
        .filter(part -> part.name().equals(name))
        .findFirst()
        .orElseGet(() -> new PoolPart(name, 0));
  }

  private static void change(Session session, Map<Long, Long> model, SplittableRandom random) {
    for (int i = 0; i < CHANGES; i++) {
      long key = random.nextInt(KEYS);
      if (random.nextInt(3) > 0) {
        session.put(key, i);
        model.put(key, (long) i);
      } else {
        assertThat(session.remove(key)).isEqualTo(model.remove(key) != null);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldAddUpToTheByte(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    TreeMap<Long, Long> model = new TreeMap<>();
    SplittableRandom random = new SplittableRandom(Seeds.of(7101));
    try (Fabric fabric = Pools.open(3, 8 << 20, 1);
        RangeIndex index = configuration.create(fabric);
        Session session = index.session()) {
      checkAlone(fabric, index);
      for (int round = 0; round < 3; round++) {
        change(session, model, random);
        PoolSpace space = checkAlone(fabric, index);
        PoolPart leaves =
            part(
                space,
                system.systemName().equals("rolex") || system.systemName().equals("xstore-d")
                    ? "runs of leaves"
                    : "leaves");
        assertThat(leaves.count()).isPositive();
        assertThat(leaves.held()).isPositive().isLessThanOrEqualTo(leaves.room());
      }
      for (long key : model.keySet()) {
        assertThat(session.remove(key)).isTrue();
      }
      checkAlone(fabric, index);
    }
  }

  /** Checks the space of an index that is served by one process. */
  private static PoolSpace checkAlone(Fabric fabric, RangeIndex index) {
    PoolSpace space = index.space();
    assertThat(space.problems()).isEmpty();
    assertThat(space.otherBytes()).as("%s", space).isZero();
    assertThat(space.usedBytes()).isEqualTo(index.poolBytes());
    assertThat(space.bytes()).isEqualTo(dramBytes(fabric));
    long free =
        fabric.usage().stream().mapToLong(use -> use.capacityBytes() - use.reservedBytes()).sum();
    assertThat(part(space, "free chunks").bytes() + part(space, "free parts of chunks").bytes())
        .isEqualTo(free);
    return space;
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldSayWhatIsWithOtherProcesses(SystemUnderTest system) {
    Configuration configuration = system.tiny(2);
    TreeMap<Long, Long> model = new TreeMap<>();
    try (Fabric fabric = Pools.open(2, 8 << 20, 1)) {
      try (RangeIndex one = configuration.create(fabric, 0, 1);
          RangeIndex other = configuration.join(fabric, 1, 1)) {
        change(one, other, model);
        // DEX writes its cache back.
        PoolSpace others = other.space();
        PoolSpace space = one.space();
        assertThat(space.problems()).isEmpty();
        assertThat(space.bytes()).isEqualTo(dramBytes(fabric));
        assertThat(space.otherBytes()).isEqualTo(keptBytes(others));
        assertThat(configuration.options().space(fabric).bytes()).isEqualTo(space.bytes());
      }
      PoolSpace atRest = configuration.options().space(fabric);
      assertThat(atRest.problems()).isEmpty();
      assertThat(atRest.bytes()).isEqualTo(dramBytes(fabric));
      assertThat(atRest.usedBytes()).isEqualTo(configuration.walk(fabric).bytes());
    }
  }

  private static long keptBytes(PoolSpace space) {
    return Stream.of("freed nodes, kept here", "new nodes, kept here", "between extents")
        .mapToLong(name -> part(space, name).bytes())
        .sum();
  }

  private static void change(RangeIndex one, RangeIndex other, Map<Long, Long> model) {
    try (Session here = one.session();
        Session there = other.session()) {
      for (long i = 0; i < KEYS; i++) {
        long key = i * Long.divideUnsigned(-1, KEYS);
        (one.serves(key) ? here : there).put(key, i);
        model.put(key, i);
      }
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldRefuseWhereThereIsNoIndex(SystemUnderTest system) {
    Configuration configuration = system.tiny(1);
    try (Fabric fabric = Pools.open(1, 4 << 20, 1)) {
      assertThatIllegalStateException()
          .isThrownBy(() -> configuration.options().space(fabric))
          .withMessageContaining("the pool holds no such index: kind=" + system);
      RangeIndex index = configuration.create(fabric);
      index.close();
      assertThatIllegalStateException().isThrownBy(index::space).withMessage("the index is closed");
    }
  }

  @Test
  void shouldLetOperationsWaitMeanwhile() throws InterruptedException {
    try (Fabric fabric = Pools.open(2, 8 << 20, 1);
        RangeIndex index = SystemUnderTest.DEX.tiny(2).create(fabric)) {
      Thread changes =
          Thread.ofPlatform()
              .start(() -> {
                try (Session session = index.session()) {
                  change(session, new TreeMap<>(), new SplittableRandom(7102));
                }
              });
      while (changes.isAlive()) {
        PoolSpace space = index.space();
        assertThat(space.problems()).isEmpty();
        assertThat(space.otherBytes()).isZero();
      }
      changes.join();
      checkAlone(fabric, index);
    }
  }
}
