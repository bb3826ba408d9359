package pando.fabric.base;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.layout.Regions;
import pando.fabric.memory.Words;

/**
 * A worker whose verbs all go as lists: a single verb is a list of one. A list is checked whole
 * before any of it is sent.
 */
public abstract class ListWorker extends WorkerBase {
  /** Within the operands of a 16-byte masked CAS, where the value found goes. */
  protected static final int FOUND_16 = 64;

  /** The local offset of an atomic whose value found goes nowhere in local memory. */
  private static final long NOWHERE = -1;

  private final long[] dramBytes;
  private final VerbList single = new VerbList();
  private long found;
  private boolean closed;

  /**
   * Creates a worker; see {@link WorkerBase}.
   *
   * @param dramBytes bytes of DRAM of each memory server; not changed
   */
  protected ListWorker(
      long[] dramBytes, MemorySegment memory, RandomGenerator random, Backoff backoff) {
    super(memory, random, backoff);
    this.dramBytes = dramBytes;
  }

  /**
   * Runs verbs, {@linkplain #setFound delivers} what atomics found, and, before an exception, says
   * {@linkplain VerbList#setOutcome what became of verbs} that were not left undone.
   *
   * @param list not empty; its addresses and local offsets are checked
   */
  protected abstract void run(VerbList list);

  /** Takes what an atomic of 8 bytes found, to the local offset of the verb. */
  protected final void setFound(long local, long value) {
    found = value;
    if (local != NOWHERE) {
      Words.setUnaligned(memory(), local, value);
    }
  }

  /** Checks that this worker is open. */
  protected void checkOpen() {
    if (closed) {
      throw closed();
    }
  }

  @Override
  public final void read(long remote, long local, int bytes) {
    scatter(single.clear().read(remote, local, bytes));
  }

  @Override
  public final void write(long remote, long local, int bytes) {
    scatter(single.clear().write(remote, local, bytes));
  }

  @Override
  public final long cas(long remote, long expected, long desired) {
    return atomic(single.clear().cas(remote, expected, desired, NOWHERE));
  }

  @Override
  public final long faa(long remote, long addend) {
    return atomic(single.clear().faa(remote, addend, NOWHERE));
  }

  @Override
  public final long maskedCas(
      long remote, long compare, long compareMask, long swap, long swapMask) {
    return atomic(single.clear().maskedCas(remote, compare, compareMask, swap, swapMask, NOWHERE));
  }

  @Override
  public final long maskedFaa(long remote, long addend, long boundaries) {
    return atomic(single.clear().maskedFaa(remote, addend, boundaries, NOWHERE));
  }

  @Override
  public final boolean maskedCas16(long remote, long operands) {
    scatter(single.clear().maskedCas16(remote, operands));
    return matches(operands) && matches(operands + Long.BYTES);
  }

  @Override
  public final void post(VerbList list) {
    list.requireOneServer();
    scatter(list);
  }

  @Override
  public final void scatter(VerbList list) {
    list.setDone(0);
    checkOpen();
    for (int i = 0; i < list.size(); i++) {
      checkRemote(list, i);
      checkLocal(list, i);
    }
    if (list.size() > 0) {
      runAndCount(list);
    }
    list.setDone(list.size());
  }

  @Override
  public void close() {
    closed = true;
  }

  private long atomic(VerbList list) {
    checkOpen();
    checkRemote(list, 0);
    runAndCount(list);
    return found;
  }

  private void runAndCount(VerbList list) {
    run(list);
    counters().countList(list);
  }

  private void checkRemote(VerbList list, int index) {
    long remote = list.remote(index);
    int bytes = list.length(index);
    int server = Regions.server(remote);
    if (server >= dramBytes.length) {
      throw Regions.noSuchServer(remote, dramBytes.length);
    }
    if (list.kind(index).isAtomic()) {
      Regions.checkAligned(remote, bytes);
    }
    Regions.check(dramBytes[server], remote, bytes);
  }

  private void checkLocal(VerbList list, int index) {
    if (list.kind(index) == Kind.MASKED_CAS_16) {
      checkOperands16(list.local(index));
    } else {
      checkLocal(list.local(index), list.length(index));
    }
  }

  /** Returns whether half of what a 16-byte masked CAS found is what it compared with. */
  private boolean matches(long operands) {
    long difference = Words.get(memory(), operands + FOUND_16) ^ Words.get(memory(), operands);
    return (difference & Words.get(memory(), operands + 2 * Long.BYTES)) == 0;
  }
}
