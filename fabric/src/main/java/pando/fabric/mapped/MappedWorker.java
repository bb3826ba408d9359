package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.base.WorkerBase;
import pando.fabric.layout.Regions;
import pando.fabric.memory.Words;

/** Issues verbs by touching mapped memory. */
final class MappedWorker extends WorkerBase {
  private static final MemoryServerLink[] NO_LINKS = {};

  private final MappedFabric fabric;
  private final CallClient calls;
  private final VerbRunner runner = new VerbRunner();
  private MemoryServerLink[] links;

  MappedWorker(
      MappedFabric fabric,
      MemoryServerLink[] links,
      MemorySegment memory,
      RandomGenerator random,
      Backoff backoff) {
    super(memory, random, backoff);
    this.fabric = fabric;
    this.links = links;
    this.calls = new CallClient(this, links.length);
  }

  @Override
  public void read(long remote, long local, int bytes) {
    runRead(remote, local, bytes);
    counters().roundTrips++;
  }

  @Override
  public void write(long remote, long local, int bytes) {
    runWrite(remote, local, bytes);
    counters().roundTrips++;
  }

  @Override
  public long cas(long remote, long expected, long desired) {
    long found = runCas(remote, expected, desired);
    counters().roundTrips++;
    return found;
  }

  @Override
  public long faa(long remote, long addend) {
    long before = runFaa(remote, addend);
    counters().roundTrips++;
    return before;
  }

  @Override
  public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    long found = runMaskedCas(remote, compare, compareMask, swap, swapMask);
    counters().roundTrips++;
    return found;
  }

  @Override
  public long maskedFaa(long remote, long addend, long boundaries) {
    long before = runMaskedFaa(remote, addend, boundaries);
    counters().roundTrips++;
    return before;
  }

  @Override
  public boolean maskedCas16(long remote, long operands) {
    boolean stored = runMaskedCas16(remote, operands);
    counters().roundTrips++;
    return stored;
  }

  @Override
  public void post(VerbList list) {
    list.requireOneServer();
    scatter(list);
  }

  @Override
  public void scatter(VerbList list) {
    int size = list.size();
    int done = 0;
    try {
      while (done < size) {
        run(list, done);
        done++;
      }
    } finally {
      list.setDone(done);
    }
    if (size > 0) {
      counters().roundTrips++;
    }
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    checkCall(server, links.length, function, message, requestBytes);
    int responseBytes = calls.call(links[server], function, message, requestBytes);
    counters().countCall(requestBytes, responseBytes);
    return responseBytes;
  }

  @Override
  public void close() {
    links = NO_LINKS;
    fabric.forget(this);
  }

  /** Waits until this worker is not inside a native call that accesses the pool. */
  void awaitNoNativeCall() {
    runner.awaitNoNativeCall();
  }

  private void run(VerbList list, int i) {
    long remote = list.remote(i);
    long local = list.local(i);
    switch (list.kind(i)) {
      case READ -> runRead(remote, local, list.length(i));
      case WRITE -> runWrite(remote, local, list.length(i));
      case MASKED_CAS_16 -> runMaskedCas16(remote, local);
      default -> {
        checkLocal(local, Long.BYTES);
        Words.setUnaligned(memory(), local, runAtomic(list, i, remote));
      }
    }
  }

  private long runAtomic(VerbList list, int i, long remote) {
    long a = list.operand(i, 0);
    long b = list.operand(i, 1);
    return switch (list.kind(i)) {
      case CAS -> runCas(remote, a, b);
      case FAA -> runFaa(remote, a);
      case MASKED_CAS -> runMaskedCas(remote, a, b, list.operand(i, 2), list.operand(i, 3));
      case MASKED_FAA -> runMaskedFaa(remote, a, b);
      case READ, WRITE, MASKED_CAS_16 -> throw new AssertionError(list.kind(i));
    };
  }

  private void runRead(long remote, long local, int bytes) {
    runner.read(link(remote), remote, memory(), local, bytes);
    counters().countRead(bytes);
  }

  private void runWrite(long remote, long local, int bytes) {
    runner.write(link(remote), remote, memory(), local, bytes);
    counters().countWrite(bytes);
  }

  private long runCas(long remote, long expected, long desired) {
    long found = runner.cas(link(remote), remote, expected, desired);
    counters().countAtomic(Kind.CAS);
    return found;
  }

  private long runFaa(long remote, long addend) {
    long before = runner.faa(link(remote), remote, addend);
    counters().countAtomic(Kind.FAA);
    return before;
  }

  private long runMaskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    long found = runner.maskedCas(link(remote), remote, compare, compareMask, swap, swapMask);
    counters().countAtomic(Kind.MASKED_CAS);
    return found;
  }

  private long runMaskedFaa(long remote, long addend, long boundaries) {
    long before = runner.maskedFaa(link(remote), remote, addend, boundaries);
    counters().countAtomic(Kind.MASKED_FAA);
    return before;
  }

  private boolean runMaskedCas16(long remote, long operands) {
    MemoryServerLink link = link(remote);
    checkOperands16(operands);
    boolean stored = runner.maskedCas16(link, remote, memory(), operands);
    counters().countAtomic(Kind.MASKED_CAS_16);
    return stored;
  }

  /** Returns the link of an address. A swizzled one yields a number that no memory server has. */
  private MemoryServerLink link(long remote) {
    int server = Regions.server(remote);
    MemoryServerLink[] all = links;
    if (server >= all.length) {
      throw noSuchServer(remote);
    }
    return all[server];
  }

  private RuntimeException noSuchServer(long remote) {
    checkOpen();
    return Regions.noSuchServer(remote, links.length);
  }

  private void checkOpen() {
    if (links.length == 0) {
      throw closed();
    }
  }
}
