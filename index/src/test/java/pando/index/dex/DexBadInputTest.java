package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Partitioning;
import pando.index.Pools;
import pando.index.Session;

/** Settings and partitions that are wrong. */
@Timeout(300)
class DexBadInputTest {
  @ParameterizedTest(name = "{0}={1}")
  @CsvSource({
    "node-bytes,      100",
    "node-bytes,      64",
    "node-bytes,      1000",
    "node-bytes,      1MiB",
    "node-bytes,      4294968320",
    "cache-bytes,     12095",
    "cache-bytes,     lots",
    "cache-bytes,     -1",
    "cache-bytes,     1.5GiB",
    "cache-bytes,     999999999999999TiB",
    "compute-servers, 0",
    "compute-servers, 65",
    "compute-servers, many",
    "cooling-share,   0",
    "cooling-share,   NaN",
    "cooling-share,   ten",
    "admission,       1.1",
    "admission,       -0.1",
    "contrary,        2",
    "caching,         yes",
    "offloading,      true",
    "subtree-level,   32",
    "merge-share,     0.9",
    "sessions-max,    0",
    "samples,         99999999999",
    "no-such-option,  1",
  })
  void shouldRefuseOptions(String name, String value) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Tiny.options(1).with(name, value).check())
        .withMessageMatching(".*(" + name + "|nodeBytes).*");
  }

  @Test
  void shouldRefuseWrongPartitions() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, Tiny.options(3));
        Session session = index.session()) {
      Partitioning before = index.partitioning();
      for (int server : new int[] {-1, 3, 64, Integer.MAX_VALUE}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.partitions().orElseThrow().moveBoundary(server, 0));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.partitions().orElseThrow().split(server, 0));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.partitions().orElseThrow().addComputeServer(server));
        assertThatIllegalArgumentException()
            .isThrownBy(() -> index.partitions().orElseThrow().removeComputeServer(server));
      }
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.partitions().orElseThrow().moveBoundary(0, 5));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.partitions().orElseThrow().moveBoundary(1, Long.MIN_VALUE))
          .withMessageContaining("low=" + Long.MIN_VALUE);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.partitions().orElseThrow().moveBoundary(1, Long.MAX_VALUE));
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.partitions().orElseThrow().split(1, before.lowOfServer(1)));
      assertThat(index.partitions().orElseThrow().moveBoundary(1, before.lowOfServer(1)))
          .isEqualTo(before.lowOfServer(1));
      assertThat(index.partitions().orElseThrow().moveBoundary(1, before.lowOfServer(1) + 1))
          .isEqualTo(before.lowOfServer(1));
      assertThat(index.partitions().orElseThrow().moveBoundary(1, before.lowOfServer(1) - 1))
          .isEqualTo(before.lowOfServer(1));
      assertThat(index.partitions().orElseThrow().split(1, before.highOfServer(1))).isEqualTo(-1);
      assertThat(index.partitions().orElseThrow().addComputeServer(1)).isEqualTo(-1);
      index.partitions().orElseThrow().removeComputeServer(1);
      index.partitions().orElseThrow().removeComputeServer(0);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.partitions().orElseThrow().removeComputeServer(2))
          .withMessageContaining("server=2");
      assertThat(session.put(1, 1)).isFalse();
      assertThat(session.put(Long.MIN_VALUE, 1)).isFalse();
    }
  }

  @Test
  void shouldLeavePartitionsAloneAfterTheEnd() {
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      DexIndex index = DexIndex.create(fabric, Tiny.options(2));
      index.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> index.partitions().orElseThrow().moveBoundary(1, 0));
      assertThatIllegalStateException()
          .isThrownBy(() -> index.partitions().orElseThrow().addComputeServer(0));
      assertThatIllegalStateException()
          .isThrownBy(() -> index.partitions().orElseThrow().removeComputeServer(0));
    }
  }

  @Test
  void shouldCountSessionsOfComputeServersThatWentAway() {
    DexOptions options = Tiny.options(2).with("sessions-max", "3");
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        DexIndex index = DexIndex.create(fabric, options)) {
      List<Session> sessions = List.of(index.session(), index.session(), index.session());
      sessions.forEach(session -> session.put(1, 1));
      index.partitions().orElseThrow().removeComputeServer(0);
      sessions.getFirst().close();
      try (Session session = index.session()) {
        assertThat(session.get(1)).isTrue();
        assertThat(session.put(-1, -1)).isFalse();
      }
      sessions.forEach(Session::close);
    }
  }
}
