package pando.baselines.sherman;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.Fabric;
import pando.index.ModelRun;
import pando.index.Pools;
import pando.index.Session;
import pando.index.Tree;
import pando.sim.Cluster;
import pando.sim.ClusterOptions;

@Tag("campaign")
class ShermanOptionsTest {
  @ParameterizedTest
  @ValueSource(strings = {"sherman", "p-sherman", "fg"})
  void shouldNameTheirSystem(String system) {
    assertThat(ShermanOptions.of(system).system()).isEqualTo(system);
    assertThat(ShermanOptions.of(system)).isEqualTo(ShermanOptions.of(system));
    assertThat(ShermanOptions.of(system))
        .isNotEqualTo(ShermanOptions.of(system).with("handovers", "1"));
    assertThat(ShermanOptions.of(system).toString()).contains("handovers=4", "validation=auto");
  }

  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({
    "node-bytes,       100",
    "node-bytes,       64",
    "node-bytes,       128KiB",
    "node-bytes,       4294968320",
    "cache-bytes,      4095",
    "cache-bytes,      lots",
    "cache-bytes,      9223372036854775807",
    "cache-bytes,      1025GiB",
    "compute-servers,  0",
    "compute-servers,  65",
    "validation,       none",
    "validation,       LINES",
    "on-chip-locks,    maybe",
    "handovers,        -1",
    "handovers,        101",
    "combine,          1",
    "merge-share,      0.6",
    "merged-share,     0.4",
    "merged-share,     NaN",
    "lock-wait-millis, 0",
    "no-such-option,   1",
  })
  void shouldRefuse(String name, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ShermanOptions.sherman().with(name, value).check())
        .withMessageMatching(".*(" + name + "|nodeBytes).*");
  }

  @Test
  void shouldRefuseMoreNodesThanACacheCanHold() {
    ShermanOptions options = ShermanOptions.sherman();
    long most = (long) ShermanOptions.FRAMES_MAX * options.nodeBytes();
    options.withCacheBytes(most).check();
    options.withCacheBytes(1L << 40).withNodeBytes(4096).check();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withCacheBytes(1L << 40).check())
        .withMessageContainingAll(
            "cache-bytes=1099511627776",
            "node-bytes=1024",
            "nodes=1073741824",
            "greatest=268435456");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> options.withCacheBytes(most).withNodeBytes(512).check())
        .withMessageContainingAll("cache-bytes=274877906944", "node-bytes=512");
  }

  @Test
  void shouldRefuseWhatDoesNotGoTogether() {
    assertThatIllegalArgumentException().isThrownBy(() -> ShermanOptions.of("dex"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ShermanOptions.sherman().withOnChipLocks(false).check())
        .withMessageContaining("local-locks=on, on-chip-locks=off");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ShermanOptions.fg().withLocalLocks(true).check())
        .withMessageContaining("local-locks=on, on-chip-locks=off");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ShermanOptions.partitionedSherman().withLocalLocks(false).check())
        .withMessageContaining("partitioned=on, local-locks=off");
  }

  @Test
  void shouldRefuseValidationThatTheFabricCannotBear() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThat(fabric.capabilities().atomicityBytes()).isLessThan(BLinkLayout.LINE_BYTES);
      ShermanOptions options = ShermanOptions.sherman();
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ShermanIndex.create(fabric, options.with("validation", "lines")))
          .withMessageContaining("atomicityBytes=8");
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ShermanIndex.create(fabric, options.with("validation", "original")))
          .withMessageContaining("fabric=local");
      try (ShermanIndex index = ShermanIndex.create(fabric, options);
          Session session = index.session()) {
        assertThat(index.validation()).isEqualTo(ShermanValidation.CHECKSUM);
        assertThat(session.put(1, 1)).isFalse();
      }
    }
  }

  @Test
  void shouldRefuseVersionsWithPartitionsWhereAHeaderMayTear() {
    ShermanOptions options = ShermanOptions.partitionedSherman().with("validation", "versions");
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> ShermanIndex.create(fabric, options))
          .withMessageContaining("atomicityBytes=8");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "lines", "versions", "checksum", "original"})
  void shouldTakeEveryValidationInTheSimulator(String validation) {
    ShermanOptions options =
        ShermanOptions.sherman().with("validation", validation).with("node-bytes", "192");
    try (Cluster cluster = new Cluster(ClusterOptions.defaults().withBytesPerServer(16 << 20));
        ShermanIndex index = ShermanIndex.create(cluster.fabric(0), options);
        Session session = index.session()) {
      assertThat(index.validation().toString())
          .isEqualTo(validation.equals("auto") ? "lines" : validation);
      TreeMap<Long, Long> model = new TreeMap<>();
      new ModelRun(session, model, new SplittableRandom(1), 1_000).operations(5_000);
      Tree tree = options.walk(cluster.fabric(0));
      assertThat(tree.problems()).isEmpty();
      assertThat(tree.entries()).isEqualTo(model);
    }
  }

  @Test
  void shouldNotBeJoinedByAnotherSystem() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        ShermanIndex index = ShermanIndex.create(fabric, ShermanOptions.sherman())) {
      for (ShermanOptions other :
          new ShermanOptions[] {
            ShermanOptions.fg(),
            ShermanOptions.partitionedSherman(),
            ShermanOptions.sherman().with("validation", "versions")
          }) {
        assertThatIllegalStateException()
            .isThrownBy(() -> other.join(fabric, 0, 1))
            .withMessageContaining("found=0");
      }
      ShermanOptions.sherman().with("handovers", "0").join(fabric, 0, 1).close();
      assertThat(index.name()).isEqualTo("sherman");
    }
  }
}
