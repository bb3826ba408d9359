package pando.baselines.deft;

import java.util.HashMap;
import java.util.Map;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;

/** A session that does nothing but take locks, on nodes of two words. */
final class LockKit implements AutoCloseable {
  static final int NODE_BYTES = 64;
  static final long NODE = GlobalAddress.of(0, Fabric.CATALOGUE_BYTES);
  private static final long BUFFER = DeftNodeLocks.SCRATCH_BYTES;
  private static final int NODES = 4_096;

  final DeftNodeLocks locks;
  final Worker worker;
  final LossyWorker losses;
  final VerbList list = new VerbList();
  private final LockWords words;
  private final RegisteredMemory memory;

  LockKit(
      Fabric fabric,
      Drains drains,
      boolean casLocks,
      long waitNanos,
      int computeServer,
      int session) {
    words = new LockWords(fabric);
    memory = fabric.register(Worker.CALL_BYTES_MAX);
    worker = fabric.worker(memory);
    losses = new LossyWorker(worker);
    Worker lossy = losses.worker();
    locks = DeftNodeLocks.of(words, drains, casLocks, waitNanos, computeServer, session, lossy, 0);
  }

  /** Returns a node; those of different numbers differ. */
  static long node(int number) {
    return NODE + (long) number * NODE_BYTES;
  }

  /** Returns two nodes that share a word, and nothing else. */
  static long[] twins(Fabric fabric) {
    LockWords words = new LockWords(fabric);
    Map<Long, Long> seen = new HashMap<>();
    for (int i = 0; i < NODES; i++) {
      Long other = seen.put(words.wordOf(node(i)), node(i));
      if (other != null) {
        return new long[] {other, node(i)};
      }
    }
    throw new AssertionError("no two nodes share a word");
  }

  long wordOf(long node) {
    return words.wordOf(node);
  }

  /** Returns the word of a node's lock. */
  long word(long node) {
    worker.read(words.wordOf(node), BUFFER, Long.BYTES);
    return Words.get(worker.memory(), BUFFER);
  }

  /** Sets the word of a node's lock. */
  void setWord(long node, long value) {
    Words.set(worker.memory(), BUFFER, value);
    worker.write(words.wordOf(node), BUFFER, Long.BYTES);
  }

  /** Returns the list of READs of a node. */
  VerbList reads(long node) {
    return list.clear().read(node, BUFFER, Long.BYTES).read(node + 8, BUFFER + 8, Long.BYTES);
  }

  /** Returns a word of the node that was read. */
  long value(int index) {
    return Words.get(worker.memory(), BUFFER + (long) index * Long.BYTES);
  }

  /** Returns the list of WRITEs of a node, whose both words are set. */
  VerbList changes(long node, long value) {
    Words.set(worker.memory(), BUFFER, value);
    Words.set(worker.memory(), BUFFER + 8, value);
    return list.clear().write(node, BUFFER, Long.BYTES).write(node + 8, BUFFER + 8, Long.BYTES);
  }

  boolean lockShared(long node) {
    return locks.lockShared(node, list.clear());
  }

  boolean lockExclusive(long node) {
    return locks.lockExclusive(node, list.clear());
  }

  boolean upgrade(long node) {
    return locks.upgrade(node, list.clear());
  }

  @Override
  public void close() {
    worker.close();
    memory.close();
  }
}
