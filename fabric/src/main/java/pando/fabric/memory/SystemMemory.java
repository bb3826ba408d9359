package pando.fabric.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The memory of this machine, or of the container (the control group) that this process is in, as
 * far as the system reports it. A program that commits more than there is is killed rather than
 * refused, so check first before committing much.
 */
public final class SystemMemory {
  private static final SystemMemory OWN =
      new SystemMemory(Path.of("/proc"), Path.of("/sys/fs/cgroup"));

  /** A line of /proc/self/cgroup: a number, controllers (none in version 2), and a path. */
  private static final Pattern GROUP = Pattern.compile("\\d+:(?:|.*\\bmemory\\b.*):/(.*)");

  private final Path processes;
  private final Path groups;

  /** Reads the files of a system below other paths than the usual ones. */
  SystemMemory(Path processes, Path groups) {
    this.processes = processes;
    this.groups = groups;
  }

  /** Returns the memory of the system that this process runs on. */
  public static SystemMemory own() {
    return OWN;
  }

  /**
   * Returns the bytes that this process and the others of its container may use: those of the
   * machine, or the least limit of its control groups; {@link Long#MAX_VALUE} if neither is known.
   */
  public long limitBytes() {
    return least("MemTotal:", Group::limitBytes);
  }

  /** Returns the bytes that this process can still commit; {@link Long#MAX_VALUE} if unknown. */
  public long availableBytes() {
    return least("MemAvailable:", Group::availableBytes);
  }

  /** Returns the bytes of memory that this process takes; 0 if unknown. */
  public long residentBytes() {
    return field(processes.resolve("self/status"), "VmRSS:", 0) << 10;
  }

  /** Returns the bytes of huge pages that are set aside and free. */
  long hugePageBytes() {
    boolean usual = kibibytes("Hugepagesize:", 0) << 10 == NativeMemory.HUGE_PAGE_BYTES;
    return usual ? kibibytes("HugePages_Free:", 0) * NativeMemory.HUGE_PAGE_BYTES : 0;
  }

  private long least(String ofMachine, ToLongFunction<Group> ofGroup) {
    long kibibytes = kibibytes(ofMachine, -1);
    long least = kibibytes < 0 ? Long.MAX_VALUE : kibibytes << 10;
    for (String line : lines(processes.resolve("self/cgroup"))) {
      Matcher matcher = GROUP.matcher(line);
      if (matcher.matches()) {
        boolean isSecond = line.startsWith("0::");
        Path root = isSecond ? groups : groups.resolve("memory");
        // A container may see its group's path on the host, but its files are below the root.
        @Nullable Path path = root.resolve(matcher.group(1));
        while (path != null && path.startsWith(root)) {
          least = Math.min(least, ofGroup.applyAsLong(new Group(path, isSecond)));
          path = path.getParent();
        }
      }
    }
    return least;
  }

  /**
   * A control group.
   *
   * @param isSecond whether it is of version 2, or of version 1, where files have other names
   */
  private record Group(Path path, boolean isSecond) {
    long limitBytes() {
      Path file = path.resolve(isSecond ? "memory.max" : "memory.limit_in_bytes");
      return number(file, Long.MAX_VALUE); // where there is none, the file has "max"
    }

    long availableBytes() {
      long limit = limitBytes();
      if (limit == Long.MAX_VALUE) {
        return limit;
      }
      Path statistics = path.resolve("memory.stat");
      String files = isSecond ? "" : "total_";
      long droppable =
          field(statistics, files + "active_file", 0)
              + field(statistics, files + "inactive_file", 0)
              + field(statistics, "slab_reclaimable", 0);
      long used = number(path.resolve(isSecond ? "memory.current" : "memory.usage_in_bytes"), 0);
      return Math.clamp(limit - (used - droppable), 0, limit);
    }
  }

  private long kibibytes(String name, long otherwise) {
    return field(processes.resolve("meminfo"), name, otherwise);
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
