package pando.fabric.mapped;

import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import pando.fabric.BackgroundTask;
import pando.fabric.Capabilities;
import pando.fabric.Fabric;
import pando.fabric.PoolUsage;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.layout.ServerLayout;
import pando.fabric.layout.SpaceMessage;
import pando.fabric.memory.Atomic16;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;

/** A fabric whose memory servers' memory is mapped into this process. */
public final class MappedFabric implements Fabric {
  private final String name;
  private final MemoryServerLink[] links;
  private final Runnable ending;
  private final SplittableRandom seeds;
  private final Set<MappedWorker> workers = ConcurrentHashMap.newKeySet();
  private final Set<MappedTask> tasks = ConcurrentHashMap.newKeySet();
  private boolean closed;

  /**
   * Creates a fabric over memory servers.
   *
   * @param name name of the kind of fabric
   * @param links the memory servers, in the order of their numbers
   * @param seed start of all randomness
   * @param ending releases the memory; run once, when the fabric is closed
   */
  public MappedFabric(String name, List<MemoryServerLink> links, long seed, Runnable ending) {
    this.name = name;
    this.links = links.toArray(new MemoryServerLink[0]);
    this.seeds = new SplittableRandom(seed);
    this.ending = ending;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Capabilities capabilities() {
    return new Capabilities(
        Long.BYTES, true, Atomic16.isAvailable(), ServerLayout.ON_CHIP_BYTES, false);
  }

  @Override
  public int memoryServers() {
    return links.length;
  }

  @Override
  public long dramBytes(int server) {
    check(server);
    return links[server].dramBytes();
  }

  @Override
  public RegisteredMemory register(long bytes) {
    return new MappedMemory(NativeMemory.allocate(bytes));
  }

  @Override
  public synchronized Worker worker(RegisteredMemory memory) {
    checkOpen();
    if (!memory.segment().isNative()) {
      throw new IllegalArgumentException("not native memory: " + memory.segment());
    }
    MappedWorker worker = new MappedWorker(this, links, memory.segment(), seeds.split());
    workers.add(worker);
    return worker;
  }

  @Override
  public synchronized BackgroundTask background(String task, BooleanSupplier step) {
    checkOpen();
    MappedTask background = new MappedTask(this, task, step);
    tasks.add(background);
    try {
      background.start();
      return background;
    } catch (RuntimeException | Error e) {
      tasks.remove(background);
      throw e;
    }
  }

  @Override
  public long process() {
    return Owner.shortName();
  }

  @Override
  public boolean isGone(long process) {
    return !Owner.isAliveByShortName(process);
  }

  @Override
  public PoolUsage usage(int server) {
    check(server);
    try (RegisteredMemory memory = register(Worker.CALL_BYTES_MAX);
        Worker worker = worker(memory)) {
      int responseBytes = worker.call(server, SpaceMessage.USAGE, 0, 0);
      assert responseBytes == SpaceMessage.bytes(5);
      return new PoolUsage(
          Words.get(worker.memory(), SpaceMessage.bytes(0)),
          Words.get(worker.memory(), SpaceMessage.bytes(1)),
          Words.get(worker.memory(), SpaceMessage.bytes(2)));
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    // A step that is under way fails at its next verb.
    tasks.forEach(MappedTask::stop);
    tasks.clear();
    for (MemoryServerLink link : links) {
      link.close();
    }
    workers.forEach(MappedWorker::awaitNoNativeCall);
    workers.clear();
    ending.run();
  }

  private void check(int server) {
    if (server < 0 || server >= links.length) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + server + ", memoryServers=" + links.length);
    }
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("fabric is closed: name=" + name);
    }
  }

  /** Removes a closed worker from the open ones. */
  void forget(MappedWorker worker) {
    workers.remove(worker);
  }

  /** Removes a closed task from the open ones. */
  void forget(MappedTask task) {
    tasks.remove(task);
  }
}
