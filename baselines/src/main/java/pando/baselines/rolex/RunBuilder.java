package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;

/**
 * Turns entries in order into models and their runs: trains a line on as many as it can predict,
 * and puts those, a share of each leaf, into a run of one of the lengths. What is left of the line
 * begins the next model, so that no run has leaves to spare.
 */
final class RunBuilder {
  /** Room between what a line is trained for and what readers rely on, for rounding. */
  private static final double MARGIN = 0.01;

  /** Takes the models that are built. */
  interface Sink {
    /**
     * Takes a model whose run was allocated, before it is written.
     *
     * @return what goes into the gate of the run
     */
    long allocated(long place);

    /** Takes the least key of a leaf, in the order of keys. */
    default void leaf(long low) {}

    /** Takes a model whose run was written, in the order of keys. */
    void built(long low, long place, long line, long stamp);
  }

  private final RolexServer server;
  private final RunLayout runs;
  private final Worker worker;
  private final MemorySegment memory;
  private final long run;
  private final long message;
  private final Sink sink;
  private final Trainer trainer;
  private final EntryBuffer entries = new EntryBuffer();
  private final int perLeaf;
  private final int perRun;
  private final double epsilon;
  private final double step;

  private long low;

  /**
   * Begins to build.
   *
   * @param run where there is room in local memory for a run of the greatest length
   * @param message where there is room for the message of a CALL
   * @param fill share of each leaf to fill
   */
  RunBuilder(RolexServer server, Worker worker, long run, long message, double fill, Sink sink) {
    this.server = server;
    this.runs = server.runs;
    this.worker = worker;
    this.memory = worker.memory();
    this.run = run;
    this.message = message;
    this.sink = sink;
    this.perLeaf = Math.max(1, (int) Math.round(server.leaves.delta() * fill));
    this.perRun = perLeaf * server.options.leavesMax();
    this.epsilon = server.options.epsilon() - MARGIN;
    this.step = (double) server.leaves.delta() / perLeaf;
    this.trainer = new Trainer(perRun);
  }

  /** Returns the entries that go into a leaf. */
  int perLeaf() {
    return perLeaf;
  }

  /** Returns the leaves that so many entries take at least. */
  int leavesFor(int count) {
    return Math.max(1, (count + perLeaf - 1) / perLeaf);
  }

  /** Forgets what was added, after a failure. */
  void reset() {
    entries.clear();
  }

  /** Starts a model at a key. */
  void start(long lowOfModel) {
    low = lowOfModel;
  }

  /** Adds an entry above all before it. */
  void add(long key, long value) {
    if (entries.count() > perRun) {
      build(false, Long.MAX_VALUE);
    }
    entries.add(key, value);
  }

  /** Builds what is left, as models up to a key. */
  void finish(long high) {
    do {
      build(true, high);
    } while (entries.count() > 0);
  }

  /**
   * Builds one model out of the first entries.
   *
   * @param last whether no more entries come; else there is one beyond the model
   * @param high greatest key of the last model
   */
  private void build(boolean last, long high) {
    int fitting = trainer.fit(low, entries.keys(), 0, entries.count(), step, epsilon);
    boolean all = last && fitting == entries.count();
    int full = fitting / perLeaf;
    int leaves = all ? full + (fitting % perLeaf == 0 ? 0 : 1) : Math.max(1, full);
    int length = RunLayout.length(RunLayout.numberOfLength(Math.max(1, leaves)));
    int used = Math.min(fitting, length * perLeaf);
    boolean ends = last && used == entries.count();
    long highOfModel = ends ? high : entries.key(used) - 1;
    write(length, used, highOfModel, trainer.line());
    if (!ends) {
      low = entries.key(used);
    }
    entries.removeFirst(used);
  }

  private void write(int leaves, int used, long high, long line) {
    int memoryServer = server.nextMemoryServer();
    long place = server.allocator.allocateRun(worker, message, memoryServer, leaves);
    memory.asSlice(run, RunLayout.HEADER_BYTES).fill((byte) 0);
    long stamp = server.nextStamp();
    RunLayout.setGate(memory, run, sink.allocated(place));
    RunLayout.setCounts(memory, run, RunLayout.counts(used == 0 ? leaves : 0, 0));
    int taken = 0;
    for (int i = 0; i < leaves; i++) {
      long leaf = run + runs.leafOffset(i);
      long lowOfLeaf = i == 0 ? low : entries.key(taken);
      int end = Math.min(taken + perLeaf, used);
      long highOfLeaf = i == leaves - 1 ? high : entries.key(end) - 1;
      RolexLeafLayout.format(memory, leaf, lowOfLeaf, highOfLeaf, GlobalAddress.NULL);
      sink.leaf(lowOfLeaf);
      for (; taken < end; taken++) {
        RolexLeafLayout.append(memory, leaf, entries.key(taken), entries.value(taken));
      }
      RolexLeafLayout.seal(
          memory, leaf, RolexLeafLayout.identity(runs.leafAddress(place, i), stamp));
    }
    worker.write(RunLayout.address(place), run, (int) runs.leafOffset(leaves));
    sink.built(low, place, line, stamp);
  }
}
