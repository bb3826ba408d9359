package pando.fabric.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SystemMemoryTest {
  private static final long MIB = 1 << 20;

  @TempDir private Path root;
  private SystemMemory memory;

  @BeforeEach
  void makeASystem() throws IOException {
    memory = new SystemMemory(root.resolve("proc"), root.resolve("cgroup"));
    write("proc/meminfo", "MemTotal:  2097152 kB\nMemAvailable:  1048576 kB\n");
  }

  private void write(String file, String text) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), text);
  }

  @Test
  void shouldHaveTheMemoryOfTheMachineWithoutALimit() throws IOException {
    write("proc/self/cgroup", "0::/user.slice\n");
    write("cgroup/user.slice/memory.max", "max\n");
    assertThat(memory.limitBytes()).isEqualTo(2048 * MIB);
    assertThat(memory.availableBytes()).isEqualTo(1024 * MIB);
  }

  @Test
  void shouldKnowNothingWithoutFiles() {
    SystemMemory none = new SystemMemory(root.resolve("none"), root.resolve("none"));
    assertThat(none.limitBytes()).isEqualTo(Long.MAX_VALUE);
    assertThat(none.availableBytes()).isEqualTo(Long.MAX_VALUE);
    assertThat(none.hugePageBytes()).isZero();
  }

  @Test
  void shouldFollowTheLeastLimitOfAllGroupsAbove() throws IOException {
    write("proc/self/cgroup", "0::/pod/container\n");
    write("cgroup/pod/container/memory.max", (700 * MIB) + "\n");
    write("cgroup/pod/container/memory.current", (300 * MIB) + "\n");
    write(
        "cgroup/pod/container/memory.stat",
        "anon 1\nactive_file 4096\ninactive_file 2048\nslab_reclaimable 2048\n");
    assertThat(memory.limitBytes()).isEqualTo(700 * MIB);
    assertThat(memory.availableBytes()).isEqualTo(400 * MIB + 8192);
    write("cgroup/pod/memory.max", (600 * MIB) + "\n");
    write("cgroup/pod/memory.current", (650 * MIB) + "\n");
    assertThat(memory.limitBytes()).isEqualTo(600 * MIB);
    assertThat(memory.availableBytes()).isZero();
  }

  @Test
  void shouldFollowTheRootOfAContainerThatSeesItsPathOnTheHost() throws IOException {
    write("proc/self/cgroup", "0::/system.slice/docker-1.scope\n");
    write("cgroup/memory.max", (512 * MIB) + "\n");
    assertThat(memory.limitBytes()).isEqualTo(512 * MIB);
  }

  @Test
  void shouldFollowTheLimitOfTheFirstVersion() throws IOException {
    write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/1\n0::/\n");
    write("cgroup/memory/docker/1/memory.limit_in_bytes", (256 * MIB) + "\n");
    write("cgroup/memory/docker/1/memory.usage_in_bytes", (200 * MIB) + "\n");
    write(
        "cgroup/memory/docker/1/memory.stat",
        "inactive_file 1\ntotal_active_file 0\ntotal_inactive_file " + (100 * MIB) + "\n");
    write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assertThat(memory.limitBytes()).isEqualTo(256 * MIB);
    assertThat(memory.availableBytes()).isEqualTo(156 * MIB);
  }

  @Test
  void shouldKnowTheSystemThatItRunsOn() {
    assertThat(SystemMemory.own().limitBytes()).isGreaterThan(64 * MIB);
    assertThat(SystemMemory.own().residentBytes())
        .isBetween(16 * MIB, SystemMemory.own().limitBytes());
    assertThat(SystemMemory.own().availableBytes())
        .isPositive()
        .isLessThanOrEqualTo(SystemMemory.own().limitBytes());
  }
}
