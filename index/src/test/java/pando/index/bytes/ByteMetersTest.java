package pando.index.bytes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;
import pando.index.MeterReadings;
import pando.index.Pools;
import pando.index.orca.OrcaOptions;

class ByteMetersTest {
  private static final ByteOptions OPTIONS =
      ByteOptions.defaults()
          .withCacheBytes(1 << 20)
          .withLabels(OrcaOptions.defaults().withComputeServers(1).withCacheBytes(1 << 20));

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(UTF_8));
  }

  @Test
  void shouldTellWhatWaitsAndWhatIsCached() {
    try (Fabric fabric = Pools.open(1, 64 << 20, 1);
        ByteIndex index = ByteIndex.create(fabric, OPTIONS);
        ByteSession session = index.session()) {
      for (int i = 0; i < 100; i++) {
        session.put(bytes("key" + i), bytes("one"));
      }
      // To count where every byte is, all changes are merged.
      index.space();
      assertThat(MeterReadings.of(index)).containsEntry("pando.changes.waiting", 0.0);
      for (int i = 0; i < 20; i++) {
        session.put(bytes("key" + i % 10), bytes("two"));
      }
      Map<String, Double> meters = MeterReadings.of(index);
      assertThat(meters)
          .containsEntry("pando.changes.waiting", 10.0)
          .containsEntry("pando.blocks", 1.0)
          .containsEntry("pando.index.bytes", (double) index.poolBytes())
          .containsEntry("pando.cache.bytes", (double) index.cachedBytes())
          .containsEntry("pando.cache.share.bytes of directory", (double) index.directoryBytes())
          .containsEntry("pando.cache.share.bytes of deltas", (double) index.deltas.bytes());
      double shares =
          meters.entrySet().stream()
              .filter(meter -> meter.getKey().startsWith("pando.cache.share.bytes"))
              .mapToDouble(Map.Entry::getValue)
              .sum();
      assertThat(shares).isEqualTo((double) index.cachedBytes());
    }
  }

  @Test
  void shouldKeepTheVerbsOfSessionsThatHaveClosed() {
    try (Fabric fabric = Pools.open(1, 64 << 20, 1)) {
      ByteIndex index = ByteIndex.create(fabric, OPTIONS);
      long reads;
      try (ByteSession session = index.session()) {
        session.put(bytes("key"), bytes("v".repeat(1_000)));
        long before = index.verbs().writes;
        session.put(bytes("key"), bytes("w".repeat(1_000)));
        assertThat(index.verbs().writes).isGreaterThan(before);
        reads = index.verbs().reads;
      }
      VerbCounters closed = index.verbs();
      assertThat(closed.reads).isEqualTo(reads);
      index.close();
      assertThat(index.isClosed()).isTrue();
      assertThat(index.verbs().writes).isGreaterThanOrEqualTo(closed.writes);
    }
  }
}
