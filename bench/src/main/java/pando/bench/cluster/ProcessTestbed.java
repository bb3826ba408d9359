package pando.bench.cluster;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import pando.bench.run.Audit;
import pando.bench.run.Footprint;
import pando.bench.run.Measurement;
import pando.bench.run.Testbed;
import pando.bench.workload.Workload;
import pando.cli.cluster.JavaProcess;

/** A testbed whose servers are separate processes, which this one controls. */
public final class ProcessTestbed implements Testbed {
  private static final Pattern READY = Pattern.compile(".* is ready at (\\S+) .*");

  private final List<JavaProcess> processes = new CopyOnWriteArrayList<>();
  private final List<ComputeProcess> computeProcesses = new ArrayList<>();
  private volatile boolean closing;

  private ProcessTestbed() {}

  /**
   * Starts all processes and has the index loaded.
   *
   * @param memoryServers options of {@code pando memory-server}, of each
   * @param computeProcesses how many
   * @param arguments of every compute process: what to run, on which index
   * @throws IllegalArgumentException if the index cannot be on them
   */
  public static ProcessTestbed start(
      List<List<String>> memoryServers, int computeProcesses, List<String> arguments)
      throws IOException {
    return load(testbed -> testbed.startMemoryServers(memoryServers), computeProcesses, arguments);
  }

  /**
   * Starts the compute processes and has the index loaded.
   *
   * @param memoryServers where they are; they run already, and go on afterwards
   * @param computeProcesses how many
   * @param arguments of every compute process: what to run, on which index
   * @throws IllegalArgumentException if the index cannot be on them
   */
  public static ProcessTestbed attach(
      List<String> memoryServers, int computeProcesses, List<String> arguments) throws IOException {
    return load(_ -> memoryServers, computeProcesses, arguments);
  }

  private static ProcessTestbed load(
      MemoryServers memoryServers, int computeProcesses, List<String> arguments)
      throws IOException {
    ProcessTestbed testbed = new ProcessTestbed();
    try {
      List<String> places = memoryServers.of(testbed);
      testbed.startComputeProcesses(computeProcesses, places, arguments);
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
    sendAll(ProcessRequest.GO);
    Measurement total = new Measurement();
    for (ComputeProcess process : computeProcesses) {
      total.add(process.awaitMeasurement());
    }
    return total;
  }

  @Override
  public Audit audit() throws IOException {
    sendAll(ProcessRequest.AUDIT);
    Audit total = new Audit(0, 0);
    for (ComputeProcess process : computeProcesses) {
      total = total.plus(process.awaitAudit());
    }
    return total;
  }

  @Override
  public Footprint footprint(long records) throws IOException {
    sendAll(ProcessRequest.BYTES);
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

  private List<String> startMemoryServers(List<List<String>> optionsOfEach) throws IOException {
    for (List<String> options : optionsOfEach) {
      List<String> arguments = new ArrayList<>(options);
      arguments.addFirst("memory-server");
      start(arguments);
    }
    List<String> places = new ArrayList<>();
    for (JavaProcess memoryServer : processes) {
      places.add(place(memoryServer.awaitLine()));
    }
    return places;
  }

  /** Returns the name or the address in the line that a memory server prints. */
  private static String place(String line) throws IOException {
    Matcher matcher = READY.matcher(line);
    if (!matcher.matches()) {
      throw new IOException("not what a memory server prints: line=" + line);
    }
    return matcher.group(1);
  }

  private void startComputeProcesses(int count, List<String> places, List<String> arguments)
      throws IOException {
    for (int process = 0; process < count; process++) {
      List<String> all = new ArrayList<>();
      all.add("compute-servers");
      all.addAll(arguments);
      all.add("--pool=" + String.join(",", places));
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
    first.send(ProcessRequest.LOAD);
    first.awaitDone();
    for (ComputeProcess process : computeProcesses.subList(1, computeProcesses.size())) {
      process.send(ProcessRequest.JOIN);
      process.awaitDone();
    }
  }

  private void sendAll(ProcessRequest request) throws IOException {
    for (ComputeProcess process : computeProcesses) {
      process.send(request);
    }
  }

  private void awaitAll() throws IOException {
    for (ComputeProcess process : computeProcesses) {
      process.awaitDone();
    }
  }

  /** Returns where the memory servers of a testbed are, and starts them first if need be. */
  @FunctionalInterface
  private interface MemoryServers {
    List<String> of(ProcessTestbed testbed) throws IOException;
  }
}
