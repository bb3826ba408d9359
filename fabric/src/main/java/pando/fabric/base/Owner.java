package pando.fabric.base;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The name of a process of this machine in one word, which differs from that of a later process
 * with the same id. Processes that share a memory server must see the same process ids.
 *
 * <pre>
 *  63            42 41                                        0
 * +----------------+-------------------------------------------+
 * | process id     | start, in clock ticks since the boot      |
 * +----------------+-------------------------------------------+
 * </pre>
 */
public final class Owner {
  private static final int START_BITS = 42;
  private static final long START_MASK = (1L << START_BITS) - 1;

  /** Position of the start among the fields that follow the name of the program. */
  private static final int START_FIELD = 19;

  private static final int STATE_FIELD = 0;

  private static final long SELF = owner(ProcessHandle.current().pid());

  /** Bits of the start in a {@link #shortName}; they wrap after eleven hours. */
  private static final int SHORT_START_BITS = 22;

  private static final long SHORT_START_MASK = (1L << SHORT_START_BITS) - 1;

  private Owner() {}

  /** Returns a name of this process in 44 bits: its process id, and the lower half of its start. */
  public static long shortName() {
    return pid(SELF) << SHORT_START_BITS | (SELF & SHORT_START_MASK);
  }

  /** Returns whether a process still runs. */
  public static boolean isAliveByShortName(long name) {
    return isAlive(name >>> SHORT_START_BITS, name, SHORT_START_MASK);
  }

  /** Returns the name of this process. */
  public static long self() {
    return SELF;
  }

  /** Returns whether a process still runs. */
  public static boolean isAlive(long owner) {
    return isAlive(pid(owner), owner, START_MASK);
  }

  private static boolean isAlive(long pid, long name, long startMask) {
    if (!Files.exists(Path.of("/proc/self/stat"))) {
      return ProcessHandle.of(pid).isPresent();
    }
    Optional<Long> start = start(pid);
    return start.isPresent() && ((start.get() ^ name) & startMask) == 0;
  }

  /** Returns the process id. */
  public static long pid(long owner) {
    return owner >>> START_BITS;
  }

  private static long owner(long pid) {
    return pid << START_BITS | start(pid).orElse(0L);
  }

  /** Returns the start time of a process; empty if it has ended or is about to. */
  private static Optional<Long> start(long pid) {
    Path directory = Path.of("/proc/" + pid);
    try {
      String stat = Files.readString(directory.resolve("stat"));
      // The name of the program is in parentheses, and may itself contain spaces and parentheses.
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      boolean ended = fields[STATE_FIELD].equals("Z") || fields[STATE_FIELD].equals("X");
      return ended
          ? Optional.empty()
          : Optional.of(Long.parseLong(fields[START_FIELD]) & START_MASK);
    } catch (IOException e) {
      if (Files.exists(directory)) {
        throw new UncheckedIOException("cannot find out whether a process runs: pid=" + pid, e);
      }
      return Optional.empty();
    }
  }
}
