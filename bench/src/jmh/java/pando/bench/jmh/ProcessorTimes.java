package pando.bench.jmh;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Processor time that this JVM's threads take for each verb or operation: those of a server, and
 * the others.
 */
final class ProcessorTimes {
  /** How the names of a memory server's threads begin. */
  static final String SERVER_THREADS = "pando-memory-server";

  private final String serverThreads;
  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private Map<Long, Long> before = Map.of();
  private long verbs;

  /** Counts those of memory servers by themselves. */
  ProcessorTimes() {
    this(SERVER_THREADS);
  }

  /**
   * Counts those of a server by themselves.
   *
   * @param serverThreads how the names of its threads begin
   */
  ProcessorTimes(String serverThreads) {
    this.serverThreads = serverThreads;
  }

  /** Begins anew. */
  void start() {
    before = nanosOfThreads();
    verbs = 0;
  }

  /** Counts verbs that were done. */
  void count(long done) {
    verbs += done;
  }

  /** What both sides have taken since the start, in microseconds for each verb. */
  String since() {
    long server = 0;
    long client = 0;
    for (Map.Entry<Long, Long> thread : nanosOfThreads().entrySet()) {
      ThreadInfo info = threads.getThreadInfo(thread.getKey());
      if (info != null) {
        long nanos = thread.getValue() - before.getOrDefault(thread.getKey(), 0L);
        if (info.getThreadName().startsWith(serverThreads)) {
          server += nanos;
        } else {
          client += nanos;
        }
      }
    }
    return String.format(
        Locale.ROOT, "client %.2f us, server %.2f us", client / 1e3 / verbs, server / 1e3 / verbs);
  }

  private Map<Long, Long> nanosOfThreads() {
    Map<Long, Long> nanos = new HashMap<>();
    for (long id : threads.getAllThreadIds()) {
      nanos.put(id, Math.max(0, threads.getThreadCpuTime(id)));
    }
    return nanos;
  }
}
