package pando.index.orca.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.Seeds;
import pando.index.orca.leaf.LeafLayout;
import pando.index.pool.NodePlaces;

class LeafPointerTest {
  private static final int UNIT = 64;
  private static final long OFFSETS = 1L << 41;

  private static void check(int server, long offset, int segments) {
    long address = GlobalAddress.of(server, offset);
    long pointer = LeafPointer.of(address, segments);
    assertThat(LeafPointer.address(pointer)).isEqualTo(address);
    assertThat(LeafPointer.segments(pointer)).isEqualTo(segments);
    assertThat(pointer & 3).isZero();
  }

  @Test
  void shouldNameAnyPlace() {
    SplittableRandom random = new SplittableRandom(Seeds.of(2621));
    for (int i = 0; i < 10_000; i++) {
      check(
          random.nextInt(GlobalAddress.SERVERS_MAX),
          random.nextLong(OFFSETS) * UNIT,
          random.nextInt(2, LeafLayout.SEGMENTS_MAX + 1));
    }
    for (int segments : new int[] {0, LeafLayout.SEGMENTS_MIN, LeafLayout.SEGMENTS_MAX}) {
      check(0, 0, segments);
      check(GlobalAddress.SERVERS_MAX - 1, (OFFSETS - 1) * UNIT, segments);
    }
  }

  @Test
  void shouldRejectWhatNoPointerNames() {
    long address = GlobalAddress.of(1, 1 << 20);
    assertThatThrownBy(() -> LeafPointer.of(address, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("address=1:0x100000, segments=1");
    assertThatThrownBy(() -> LeafPointer.of(address, 32))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeafPointer.of(address, -1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeafPointer.of(address + 8, 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeafPointer.of(GlobalAddress.onChip(0, 64), 2))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> LeafPointer.of(GlobalAddress.swizzled(address), 2))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldFollowNoPointerOutOfThePool() {
    try (Fabric fabric = LocalFabric.open(PoolOptions.defaults().withMemoryServers(2))) {
      NodePlaces places = new NodePlaces(fabric, DirectoryPage.BYTES);
      long end = fabric.dramBytes(1);
      long leaf = LeafPointer.of(GlobalAddress.of(1, end - LeafLayout.bytes(31)), 31);
      assertThat(LeafPointer.problem(leaf, 0, places)).isNull();
      assertThat(LeafPointer.problem(leaf, 1, places)).contains("segments=31, level=1");
      assertThat(LeafPointer.problem(leaf + 4, 0, places)).isNotNull();
      assertThat(LeafPointer.problem(leaf + 1, 0, places)).isNotNull();
      assertThat(LeafPointer.problem(leaf + 2, 0, places)).isNotNull();
      long page = LeafPointer.of(GlobalAddress.of(0, Fabric.CATALOGUE_BYTES), 0);
      assertThat(LeafPointer.problem(page, 1, places)).isNull();
      assertThat(LeafPointer.problem(page, 0, places)).contains("segments=0, level=0");
      assertThat(LeafPointer.problem(page - 4, 1, places)).as("catalogue").isNotNull();
      assertThat(LeafPointer.problem(page | 1L << 59, 0, places)).as("1 segment").isNotNull();
      assertThat(LeafPointer.problem(page | 2L << 44, 1, places)).as("server 2").isNotNull();
      assertThat(LeafPointer.problem(page | 1L << 43, 1, places)).as("on-chip").isNotNull();
      assertThat(LeafPointer.problem(0, 0, places)).isNotNull();
      assertThat(LeafPointer.problem(-1, 0, places)).isNotNull();
    }
  }
}
