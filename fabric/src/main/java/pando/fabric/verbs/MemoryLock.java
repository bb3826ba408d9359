package pando.fabric.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** The limit of the memory that this process may lock, {@code RLIMIT_MEMLOCK}. */
final class MemoryLock {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final String NAME = "Max locked memory";

  private MemoryLock() {}

  /** Returns the limit in bytes; empty if there is none, or the system does not say. */
  static OptionalLong limit() {
    try {
      return parse(Files.readAllLines(LIMITS));
    } catch (IOException notLinux) {
      return OptionalLong.empty();
    }
  }

  /** Finds the limit in force among all limits of a process, as the system lists them. */
  static OptionalLong parse(List<String> limits) {
    return limits.stream()
        .filter(line -> line.startsWith(NAME))
        .map(line -> line.substring(NAME.length()).strip().split("\\s+", -1)[0])
        .filter(value -> !value.equals("unlimited"))
        .mapToLong(Long::parseLong)
        .findFirst();
  }
}
