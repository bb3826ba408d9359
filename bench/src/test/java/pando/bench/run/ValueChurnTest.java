package pando.bench.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.bench.records.Records;
import pando.bench.subject.BlobStore;
import pando.bench.subject.ByteStore;
import pando.bench.subject.ValueStore;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.IndexOptions;
import pando.index.PoolSpace;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;

/** A short form of {@code pando churn --value-bytes}. */
class ValueChurnTest {
  private static final int PRESENT = 2_000;
  private static final int CHANGES = 20_000;
  private static final int BYTES_MAX = 4_000;
  private static final long CACHE_BYTES = 1 << 20;
  private static final double GROWTH_MAX = 0.02;

  private static ValueChurn.Subject subject(Function<Fabric, ValueStore> maker) {
    Fabric fabric =
        LocalFabric.open(
            PoolOptions.defaults()
                .withMemoryServers(2)
                .withBytesPerServer(16 << 20)
                .withChunkBytes(64 << 10)
                .withHandlers(Systems.handlers()));
    return new ValueChurn.Subject(fabric, maker.apply(fabric));
  }

  private static void check(Function<Fabric, ValueStore> maker) {
    Records records = new Records(7401);
    System.out.println("seed=" + records.seed());
    ValueChurn churn = new ValueChurn(records, PRESENT, CHANGES, 0, BYTES_MAX);
    ValueChurn.Space space = churn.run(() -> subject(maker), ValueChurnTest::checkSpace);
    assertThat(space.entries()).isBetween(PRESENT * 9L / 10, PRESENT * 11L / 10);
    assertThat(space.growth(ValueChurn.Taken::usedBytes)).isLessThan(GROWTH_MAX);
  }

  private static void checkSpace(ValueStore map) {
    PoolSpace space = map.space();
    assertThat(space.problems()).isEmpty();
    assertThat(space.otherBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex", "deft"})
  void shouldLeaveWhatAFreshLoadTakes(String system) {
    IndexOptions options =
        Systems.named(system).defaults().withComputeServers(1).withCacheBytes(CACHE_BYTES);
    check(fabric -> new BlobStore(fabric, options.create(fabric)));
  }

  @Test
  void shouldLeaveWhatAFreshLoadOfByteStringsTakes() {
    ByteOptions defaults = ByteOptions.defaults();
    ByteOptions options =
        defaults
            .withCacheBytes(CACHE_BYTES)
            .withLabels(defaults.labels().withCacheBytes(CACHE_BYTES));
    check(fabric -> new ByteStore(fabric, options));
  }
}
