package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Entries;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;

/** The check that SMART's paper has, and the keys that it loses. */
@Timeout(60)
class ReversePointersTest {
  private static final SmartOptions REVERSE = SmartOptions.smart().with("check", "reverse");

  private final NavigableMap<Long, Long> model =
      new TreeMap<>(Map.of(0x100L, 1L, 0x200L, 2L, 0x300L, 3L));

  private static boolean storesLeaf(VerbList verbs) {
    return verbs.size() == 1 && verbs.kind(0) == Kind.WRITE && verbs.length(0) > Long.BYTES;
  }

  /** Makes a leaf live, and a node; then the reverse pointer of another leaf changes, if any. */
  private static boolean makesLive(VerbList verbs) {
    return verbs.size() > 1
        && verbs.kind(0) == Kind.WRITE
        && verbs.length(0) == Long.BYTES
        && verbs.kind(1) == Kind.CAS;
  }

  /**
   * An insert changes the reverse pointer last, so that an old copy seems to be right until then.
   */
  @ParameterizedTest
  @CsvSource({"life, true", "reverse, false"})
  void shouldLoseAKeyByAnInsertWithReverseAlone(String check, boolean found) {
    SmartOptions options = SmartOptions.smart().with("check", check).withComputeServers(3);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 972)).withSimulated();
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session();
        Session third = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      assertThat(session.get(0x200)).isTrue();
      fabric.hookNext(
          ReversePointersTest::makesLive,
          list -> {
            list.postFirst(2);
            assertThat(third.get(0x201)).isTrue();
            assertThat(session.get(0x201)).isEqualTo(found);
            list.post();
          });
      assertThat(other.put(0x201, 4)).isFalse();
      assertThat(fabric.unhook()).isOne();
      assertThat(session.get(0x201)).isTrue();
    }
  }

  /** An update brings an older reverse pointer back, so that an old copy seems to be right. */
  @ParameterizedTest
  @CsvSource({"life, true", "reverse, false"})
  void shouldLoseAKeyByAnUpdateWithReverseAlone(String check, boolean found) {
    SmartOptions options = SmartOptions.smart().with("check", check).withComputeServers(2);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 971)).withSimulated();
        SmartIndex index = SmartIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      index.bulkLoad(Entries.of(model), 1);
      fabric.hookNext(
          ReversePointersTest::storesLeaf,
          store -> {
            assertThat(other.put(0x201, 4)).isFalse();
            store.post();
          });
      assertThat(session.put(0x200, 5)).isTrue();
      assertThat(fabric.unhook()).isOne();
      assertThat(session.get(0x201)).isEqualTo(found);
      assertThat(session.ceiling(0x201)).isTrue();
      assertThat(session.key()).isEqualTo(0x201);
    }
  }

  @Test
  void shouldRunInTheSimulatorAlone() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> SmartIndex.create(fabric, REVERSE))
          .withMessage("check=reverse loses keys, and runs in the simulator alone: fabric=local");
    }
  }
}
