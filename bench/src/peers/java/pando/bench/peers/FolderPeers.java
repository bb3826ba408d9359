package pando.bench.peers;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import pando.bench.peers.Peer.Kind;
import pando.bench.peers.Peer.PeerSession;

/**
 * Compares data folders with other stores: operations of one thread on words, puts of many threads
 * that wait for the disk, and the bytes that are written while keys are overwritten. All stores
 * take turns in each round; medians are printed.
 *
 * <pre>
 *   FolderPeers FOLDER [KEYS] [ROUNDS]
 * </pre>
 */
public final class FolderPeers {
  private static final int THREADS = 50;
  private static final int SCANNED = 100;
  private static final long SYNCED_NANOS = 4_000_000_000L;
  private static final int OPERATIONS = 1_000_000;
  private static final long GOLDEN_RATIO = 0x9E37_79B9_7F4A_7C15L;
  private static final long MIX = 0xD6E8_FEB8_6659_FD93L;

  private final Path folder;
  private final int keys;
  private final SplittableRandom random = new SplittableRandom(1);

  /** What was measured, by its name and the store. */
  private final Map<String, Map<Kind, List<Double>>> all = new TreeMap<>();

  private FolderPeers(Path folder, int keys) {
    this.folder = folder;
    this.keys = keys;
  }

  /** Compares, and prints. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    int keys = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10_000_000;
    int rounds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 5;
    Files.createDirectories(folder);
    FolderPeers peers = new FolderPeers(folder, keys);
    for (int round = 0; round < rounds; round++) {
      for (Kind kind : Kind.values()) {
        peers.measure(kind);
      }
    }
    peers.print();
  }

  private void measure(Kind kind) throws Exception {
    Path its = Files.createTempDirectory(folder, kind.name());
    try {
      try (Peer peer = kind.open(its, false)) {
        measureOperations(kind, peer);
      }
      try (Peer peer = kind.open(its, true)) {
        measureSyncedPuts(kind, peer);
      }
    } finally {
      delete(its);
    }
  }

  private void measureOperations(Kind kind, Peer peer) throws IOException {
    try (PeerSession session = peer.session()) {
      add("1 load, us a put", kind, each(keys, i -> session.put(key(i), i)));
      add(
          "2 put of a key that is there, us",
          kind,
          each(OPERATIONS, i -> session.put(key(random.nextInt(keys)), i)));
      add("3 get, us", kind, each(OPERATIONS, _ -> check(session.get(key(random.nextInt(keys))))));
      add(
          "4 scan of 100, us",
          kind,
          each(OPERATIONS / 100, _ -> check(session.scan(random.nextLong() >>> 2, SCANNED) > 0)));
      long written = writtenBytes();
      add(
          "5 overwriting all keys, us a put",
          kind,
          each(2 * keys, i -> session.put(key(random.nextInt(keys)), i)));
      add(
          "6 bytes written while overwriting, a put",
          kind,
          (writtenBytes() - written) / 2.0 / keys);
    }
  }

  private void measureSyncedPuts(Kind kind, Peer peer) throws Exception {
    List<PeerSession> sessions = new ArrayList<>();
    try {
      for (int thread = 0; thread < THREADS; thread++) {
        sessions.add(peer.session());
      }
      double _ = putInAll(sessions); // for the first time
      add("7 puts a second on the disk, 50 threads", kind, putInAll(sessions));
    } finally {
      sessions.forEach(PeerSession::close);
    }
  }

  /** Puts by all sessions at once for a time; returns how many are done a second. */
  private double putInAll(List<PeerSession> sessions)
      throws InterruptedException, ExecutionException {
    long start = System.nanoTime();
    List<Callable<Integer>> tasks = new ArrayList<>();
    for (PeerSession session : sessions) {
      SplittableRandom its = random.split();
      tasks.add(() -> {
        int count = 0;
        while (System.nanoTime() - start < SYNCED_NANOS) {
          session.put(key(its.nextInt(keys)), count++);
        }
        return count;
      });
    }
    long sum = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(tasks.size())) {
      for (Future<Integer> each : threads.invokeAll(tasks)) {
        sum += each.get();
      }
    }
    return sum * 1e9 / (System.nanoTime() - start);
  }

  /** An operation, with its number. */
  private interface Step {
    void run(int i);
  }

  /** Returns how many microseconds a step takes. */
  private static double each(int count, Step step) {
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      step.run(i);
    }
    return (System.nanoTime() - start) / 1e3 / count;
  }

  /** Returns one of the keys, which are positive and in no order. */
  private static long key(long number) {
    long mixed = (number + 1) * GOLDEN_RATIO;
    mixed = (mixed ^ mixed >>> 32) * MIX;
    return (mixed ^ mixed >>> 29) >>> 1;
  }

  private static void check(boolean found) {
    if (!found) {
      throw new IllegalStateException("a key is missing");
    }
  }

  /** Returns the bytes that this process has had the disk write. */
  private static long writtenBytes() throws IOException {
    String prefix = "write_bytes: ";
    return Files.readAllLines(Path.of("/proc/self/io")).stream()
        .filter(line -> line.startsWith(prefix))
        .mapToLong(line -> Long.parseLong(line.substring(prefix.length())))
        .sum();
  }

  private void add(String what, Kind kind, double number) {
    System.err.printf(Locale.ROOT, "%s %s: %.3f%n", kind, what, number);
    all.computeIfAbsent(what, _ -> new EnumMap<>(Kind.class))
        .computeIfAbsent(kind, _ -> new ArrayList<>())
        .add(number);
  }

  private void print() {
    System.out.printf(
        Locale.ROOT, "| | %s | %s | %s |%n|---|---|---|---|%n", (Object[]) Kind.values());
    all.forEach((what, numbers) -> {
      StringBuilder line = new StringBuilder("| ").append(what.substring(2));
      for (Kind kind : Kind.values()) {
        List<Double> sorted = numbers.get(kind).stream().sorted().toList();
        line.append(
            String.format(
                Locale.ROOT,
                " | %.2f (%.2f to %.2f)",
                sorted.get(sorted.size() / 2),
                sorted.getFirst(),
                sorted.getLast()));
      }
      System.out.println(line.append(" |"));
    });
  }

  static void delete(Path folder) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure)
              throws IOException {
            Files.delete(visited);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
