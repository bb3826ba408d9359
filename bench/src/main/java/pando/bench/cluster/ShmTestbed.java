package pando.bench.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import pando.bench.run.Audit;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.run.Testbed;
import pando.bench.workload.Workload;

/**
 * A testbed whose memory servers and compute servers are separate processes, which this one
 * controls.
 */
public final class ShmTestbed implements Testbed {
  private final List<JavaProcess> processes = new CopyOnWriteArrayList<>();
  private final List<ComputeProcess> computeProcesses = new ArrayList<>();
  private volatile boolean closing;

  private ShmTestbed() {}

  /**
   * Starts all processes and has the index loaded.
   *
   * @param memoryServers how many
   * @param bytesPerServer of each memory server
   * @param computeProcesses how many
   * @param arguments of every compute process: what to run, on which index
   */
  public static ShmTestbed load(
      int memoryServers, long bytesPerServer, int computeProcesses, List<String> arguments)
      throws IOException {
    ShmTestbed testbed = new ShmTestbed();
    try {
      List<String> names = testbed.startMemoryServers(memoryServers, bytesPerServer);
      testbed.startComputeProcesses(computeProcesses, names, arguments);
      testbed.loadAndJoin();
      return testbed;
    } catch (IOException | RuntimeException | Error e) {
      testbed.close();
      throw e;
    }
  }

  @Override
  public Measurement run(Workload workload) throws IOException {
    for (ComputeProcess process : computeProcesses) {
      process.sendRun(workload);
    }
    awaitAll();
    sendAll(Request.GO);
    Measurement total = new Measurement();
    for (ComputeProcess process : computeProcesses) {
      total.add(process.awaitMeasurement());
    }
    return total;
  }

  @Override
  public Audit audit() throws IOException {
    sendAll(Request.AUDIT);
    Audit total = new Audit(0, 0);
    for (ComputeProcess process : computeProcesses) {
      total = total.plus(process.awaitAudit());
    }
    return total;
  }

  @Override
  public Footprint footprint(long records) throws IOException {
    sendAll(Request.BYTES);
    long poolBytes = 0;
    long cachedBytes = 0;
    for (ComputeProcess process : computeProcesses) {
      process.awaitDone();
      poolBytes += process.nextBytes();
      cachedBytes += process.nextBytes();
    }
    return new Footprint(records, poolBytes, cachedBytes);
  }

  /** Ends the compute processes, and then the memory servers that they write back to. */
  @Override
  public void close() {
    closing = true;
    computeProcesses.forEach(ComputeProcess::close);
    processes.forEach(JavaProcess::close);
  }

  private List<String> startMemoryServers(int count, long bytes) throws IOException {
    List<String> names = new ArrayList<>();
    for (int number = 0; number < count; number++) {
      String name = "bench-" + ProcessHandle.current().pid() + "-" + number;
      names.add(name);
      start(List.of("memory-server", "--name=" + name, "--number=" + number, "--size=" + bytes));
    }
    for (JavaProcess memoryServer : processes) {
      memoryServer.awaitLine();
    }
    return names;
  }

  private void startComputeProcesses(int count, List<String> names, List<String> arguments)
      throws IOException {
    for (int process = 0; process < count; process++) {
      List<String> all = new ArrayList<>();
      all.add("compute-servers");
      all.addAll(arguments);
      all.add("--pool=" + String.join(",", names));
      all.add("--process=" + process);
      all.add("--processes=" + count);
      computeProcesses.add(new ComputeProcess(start(all)));
    }
  }

  private JavaProcess start(List<String> arguments) throws IOException {
    List<String> all = new ArrayList<>(arguments);
    all.add("--parent=" + ProcessHandle.current().pid());
    JavaProcess process = JavaProcess.start(all);
    processes.add(process);
    process.onEnd(() -> onEnd(process));
    return process;
  }

  /**
   * Ends all processes when one has ended unexpectedly, so that no process waits for it in vain.
   */
  private void onEnd(JavaProcess ended) {
    if (!closing) {
      closing = true;
      System.err.println("pando bench: a process has ended: " + ended);
      processes.forEach(JavaProcess::kill);
    }
  }

  private void loadAndJoin() throws IOException {
    ComputeProcess first = computeProcesses.getFirst();
    first.send(Request.LOAD);
    first.awaitDone();
    for (ComputeProcess process : computeProcesses.subList(1, computeProcesses.size())) {
      process.send(Request.JOIN);
      process.awaitDone();
    }
  }

  private void sendAll(Request request) throws IOException {
    for (ComputeProcess process : computeProcesses) {
      process.send(request);
    }
  }

  private void awaitAll() throws IOException {
    for (ComputeProcess process : computeProcesses) {
      process.awaitDone();
    }
  }
}
