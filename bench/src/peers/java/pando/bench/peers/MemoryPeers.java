package pando.bench.peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import pando.bench.peers.MemoryTrial.Operation;

/**
 * Compares indexes with other ordered maps in memory: words, and half as many byte strings, by one
 * and two threads, on Zipfian keys (0.99). Each store is measured in a process of its own, one
 * after the other, and prints a line of a table.
 *
 * <p>A line has, of each operation, thousands a second by one thread and by two, and the bytes of
 * memory an entry: what the process holds outside of the heap, what is used of the heap after a
 * collection, and the files in the folder, all since before the store was opened.
 *
 * <pre>
 *   MemoryPeers FOLDER [WORDS]
 * </pre>
 *
 * <p>The folder must be in memory, such as one in {@code /dev/shm}.
 */
public final class MemoryPeers {
  private static final int THREADS_MAX = 2;
  private static final long NANOS = 2_000_000_000L;
  private static final long NANOS_BEFORE = 200_000_000L;
  private static final long ENTRIES_BEFORE = 20_000;

  private static final long HEAP_BYTES_MIN = 1L << 30;
  private static final long HEAP_BYTES_A_WORD = 300;
  private static final int COLLECTIONS = 3;

  private MemoryPeers() {}

  /** Compares, and prints. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    long words = arguments.length > 1 ? Long.parseLong(arguments[1]) : 10_000_000;
    Files.createDirectories(folder);
    if (!Files.getFileStore(folder).type().equals("tmpfs")) {
      throw new IllegalArgumentException("the folder is not in memory: folder=" + folder);
    }
    for (MemoryKind kind : MemoryKind.values()) {
      System.out.printf("%s: %s%n", kind.title(), kind.version());
    }
    compare(folder, new MemoryKeys(false, words));
    compare(folder, new MemoryKeys(true, words / 2));
  }

  private static void compare(Path folder, MemoryKeys keys) throws Exception {
    System.out.printf(
        Locale.ROOT,
        "%n%,d %s; thousands a second, 1 thread / %d threads%n%n",
        keys.count(),
        keys.isStrings() ? "byte strings of 40 bytes with words" : "words with words",
        THREADS_MAX);
    System.out.println("| | lookups | updates | scans of 100 | inserts | bytes an entry |");
    System.out.println("|---|---|---|---|---|---|");
    for (MemoryKind kind : MemoryKind.values()) {
      if (kind.hasStrings() || !keys.isStrings()) {
        startOne(folder, kind, keys);
      }
    }
  }

  /** Has a process print the line of a store. */
  private static void startOne(Path folder, MemoryKind kind, MemoryKeys keys) throws Exception {
    long start = System.nanoTime();
    Path its = Files.createTempDirectory(folder, kind.name());
    try {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
          .filter(argument -> !argument.startsWith("-Xm"))
          .forEach(command::add);
      // The heap is resident from the start on, so that what grows is outside of it.
      long heap = HEAP_BYTES_MIN + HEAP_BYTES_A_WORD * keys.count();
      command.addAll(List.of("-Xms" + heap, "-Xmx" + heap, "-XX:+AlwaysPreTouch", "-cp"));
      command.add(System.getProperty("java.class.path"));
      command.addAll(List.of(One.class.getName(), its.toString(), kind.name()));
      command.addAll(List.of("" + keys.isStrings(), "" + keys.count()));
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try (BufferedReader out = process.inputReader()) {
        out.lines().forEach(System.out::println);
      }
      if (process.waitFor() != 0) {
        System.out.println("| " + kind.title() + " | has failed |");
      }
    } finally {
      FolderPeers.delete(its);
    }
    System.err.printf("%s took %d s%n", kind, (System.nanoTime() - start) / 1_000_000_000);
  }

  /** Measures one store, in a process of its own. */
  static final class One {
    private One() {}

    /** Measures, and prints a line. */
    public static void main(String[] arguments) throws Exception {
      Path folder = Path.of(arguments[0]);
      MemoryKind kind = MemoryKind.valueOf(arguments[1]);
      boolean isStrings = Boolean.parseBoolean(arguments[2]);
      // First a small store, so that classes and compiled code are not counted.
      Path small = Files.createDirectories(folder.resolve("small"));
      String _ = measure(small, kind, new MemoryKeys(isStrings, ENTRIES_BEFORE), NANOS_BEFORE);
      FolderPeers.delete(small);
      MemoryKeys keys = new MemoryKeys(isStrings, Long.parseLong(arguments[3]));
      System.out.println(measure(folder, kind, keys, NANOS));
    }

    private static String measure(Path folder, MemoryKind kind, MemoryKeys keys, long nanos)
        throws Exception {
      long before = bytes(folder);
      try (Peer peer = kind.load(folder, keys)) {
        double bytesAnEntry = (bytes(folder) - before) / (double) keys.count();
        MemoryTrial trial = new MemoryTrial(peer, keys);
        StringBuilder line = new StringBuilder("| ").append(kind.title());
        for (Operation operation : Operation.values()) {
          String separator = " | ";
          for (int threads = 1; threads <= THREADS_MAX; threads++) {
            double rate = trial.run(operation, threads, nanos);
            line.append(separator).append(String.format(Locale.ROOT, "%,.0f", rate / 1e3));
            separator = " / ";
          }
        }
        return line.append(String.format(Locale.ROOT, " | %.1f |", bytesAnEntry)).toString();
      }
    }

    /** Returns the bytes of memory that this process and its files hold. */
    private static long bytes(Path folder) throws IOException {
      for (int i = 0; i < COLLECTIONS; i++) {
        System.gc();
      }
      long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
      return heap + anonymousBytes() + fileBytes(folder);
    }

    private static long anonymousBytes() throws IOException {
      return Files.readAllLines(Path.of("/proc/self/status")).stream()
          .filter(line -> line.startsWith("RssAnon:"))
          .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
          .sum();
    }

    private static long fileBytes(Path folder) throws IOException {
      try (Stream<Path> files = Files.walk(folder)) {
        return files.filter(Files::isRegularFile).mapToLong(One::size).sum();
      }
    }

    private static long size(Path file) {
      try {
        return Files.size(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
