package pando.bench.jmh;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import pando.fabric.lane.LaneLoop;

/**
 * Operations of one core, each 600 ns of work and a verb that completes some time later: one at a
 * time, many in a lane, and many by a loop written by hand. Without {@code --add-opens
 * java.base/java.lang=ALL-UNNAMED} the lane's threads run on the JDK's scheduler.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 6, time = 1)
@Fork(1)
@SuppressWarnings("NullAway.Init") // JMH sets the fields
public class LaneBenchmark {
  private static final int WORK_NANOS = 600;
  private static final int OPERATIONS = 1 << 14;

  /** Rounds of work that are timed to find how many take as long as an operation does. */
  private static final int CALIBRATION_ROUNDS = 20_000_000;

  /** How long a verb takes. */
  @Param({"2", "20"})
  private int verbMicros;

  /** Operations under way. */
  @Param("16")
  private int inFlight;

  private long verbNanos;
  private int rounds;
  private long state = 1;
  private ModelVerbs verbs;
  private LaneLoop lane;
  private ExecutorService threads;

  /** For JMH. */
  public LaneBenchmark() {}

  /** Finds how much work takes 600 ns, and opens a lane. */
  @Setup(Level.Trial)
  public void open() {
    verbNanos = TimeUnit.MICROSECONDS.toNanos(verbMicros);
    double nanosPerRound = Double.MAX_VALUE;
    for (int attempt = 0; attempt < 5; attempt++) {
      long start = System.nanoTime();
      work(CALIBRATION_ROUNDS);
      nanosPerRound =
          Math.min(nanosPerRound, (System.nanoTime() - start) / (double) CALIBRATION_ROUNDS);
    }
    rounds = (int) Math.round(WORK_NANOS / nanosPerRound);
    verbs = new ModelVerbs(verbNanos);
    lane = LaneLoop.start(this, "lane", verbs);
    threads = Executors.newThreadPerTaskExecutor(lane);
  }

  /** Closes the lane. */
  @TearDown(Level.Trial)
  public void close() {
    threads.close();
    lane.close();
  }

  /** One thread, which polls for its verb. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void blockingThread() {
    for (int i = 0; i < OPERATIONS; i++) {
      work(rounds);
      long end = System.nanoTime() + verbNanos;
      while (System.nanoTime() - end < 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** Threads of a lane, in the same blocking style. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void lane() throws ExecutionException, InterruptedException {
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < inFlight; i++) {
      ends.add(threads.submit(this::runOperations));
    }
    for (Future<?> end : ends) {
      end.get();
    }
  }

  private void runOperations() {
    ModelVerbs.Verb verb = verbs.verb(lane);
    for (int i = 0; i < OPERATIONS / inFlight; i++) {
      work(rounds);
      verb.run();
    }
  }

  /** The same operations by one loop: a queue of verbs under way, in the order that they end. */
  @Benchmark
  @OperationsPerInvocation(OPERATIONS)
  public void loopByHand() {
    ArrayDeque<Operation> underWay = new ArrayDeque<>();
    for (int i = 0; i < inFlight; i++) {
      underWay.add(new Operation(OPERATIONS / inFlight));
    }
    while (!underWay.isEmpty()) {
      long now = System.nanoTime();
      while (!underWay.isEmpty() && now - underWay.getFirst().end >= 0) {
        Operation operation = underWay.removeFirst();
        if (operation.left > 0) {
          work(rounds);
          operation.left--;
          operation.end = System.nanoTime() + verbNanos;
          underWay.addLast(operation);
        }
      }
    }
  }

  private void work(int count) {
    long value = state;
    for (int i = 0; i < count; i++) {
      value ^= value << 13;
      value ^= value >>> 7;
      value ^= value << 17;
    }
    state = value;
  }

  /** The operations of one session, by hand. */
  private static final class Operation {
    private long end = System.nanoTime();
    private int left;

    Operation(int count) {
      left = count;
    }
  }
}
