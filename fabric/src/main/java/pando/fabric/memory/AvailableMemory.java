package pando.fabric.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory that can still be committed, as far as the system reports it. A program that commits
 * more is killed rather than refused, so check first before committing much.
 */
final class AvailableMemory {
  private static final Path MEMORY_INFO = Path.of("/proc/meminfo");
  private static final Path CONTROL_GROUP = Path.of("/proc/self/cgroup");
  private static final Path CONTROL_GROUPS = Path.of("/sys/fs/cgroup");
  private static final String CONTROL_GROUP_PREFIX = "0::/";

  private AvailableMemory() {}

  /** Returns the bytes that this process can still commit. */
  static long bytes() {
    long systemKibibytes = field(MEMORY_INFO, "MemAvailable:", Long.MAX_VALUE >> 10);
    return Math.min(systemKibibytes << 10, controlGroupBytes());
  }

  /** Returns the bytes of huge pages that are set aside and free. */
  static long hugePageBytes() {
    boolean usual = field(MEMORY_INFO, "Hugepagesize:", 0) << 10 == NativeMemory.HUGE_PAGE_BYTES;
    return usual ? field(MEMORY_INFO, "HugePages_Free:", 0) * NativeMemory.HUGE_PAGE_BYTES : 0;
  }

  private static long controlGroupBytes() {
    for (String line : lines(CONTROL_GROUP)) {
      if (line.startsWith(CONTROL_GROUP_PREFIX)) {
        Path group = CONTROL_GROUPS.resolve(line.substring(CONTROL_GROUP_PREFIX.length()));
        // A container sees its group's path on the host, but its files are directly below the root.
        return controlGroupBytes(
            Files.exists(group.resolve("memory.max")) ? group : CONTROL_GROUPS);
      }
    }
    return Long.MAX_VALUE;
  }

  private static long controlGroupBytes(Path group) {
    long limit = number(group.resolve("memory.max"), Long.MAX_VALUE);
    Path statistics = group.resolve("memory.stat");
    long droppable = field(statistics, "active_file", 0) + field(statistics, "inactive_file", 0);
    long used = Math.max(0, number(group.resolve("memory.current"), 0) - droppable);
    return Math.max(0, limit - used);
  }

  private static long field(Path file, String name, long otherwise) {
    for (String line : lines(file)) {
      String[] words = line.split("\\s+", -1);
      if (words.length > 1 && words[0].equals(name)) {
        return parse(words[1], otherwise);
      }
    }
    return otherwise;
  }

  private static long number(Path file, long otherwise) {
    List<String> lines = lines(file);
    return lines.isEmpty() ? otherwise : parse(lines.getFirst().strip(), otherwise);
  }

  private static long parse(String text, long otherwise) {
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException notANumber) {
      return otherwise;
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException unreadable) {
      return List.of();
    }
  }
}
