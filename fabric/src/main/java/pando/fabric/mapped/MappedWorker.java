package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.Backoff;
import pando.fabric.PoolView;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.base.Fences;
import pando.fabric.base.WorkerBase;
import pando.fabric.layout.Regions;
import pando.fabric.memory.Words;

/**
 * Issues verbs by touching mapped memory. If the compute server can be fenced, each verb, list or
 * CALL is done as a whole before the fence, or refused.
 */
final class MappedWorker extends WorkerBase {
  private static final int LINE_BYTES = 64;

  private static final MemoryServerLink[] NO_LINKS = {};

  private final MappedFabric fabric;
  private final CallClient calls;
  private final VerbRunner runner = new VerbRunner();

  /** {@code null} if it cannot be fenced. */
  private final Fences.@Nullable Pass pass;

  private MemoryServerLink[] links;

  /**
   * Creates a worker.
   *
   * @param pass by which verbs are let in, closed with the worker; {@code null} if all are
   */
  MappedWorker(
      MappedFabric fabric,
      MemoryServerLink[] links,
      Fences.@Nullable Pass pass,
      MemorySegment memory,
      RandomGenerator random,
      Backoff backoff) {
    super(memory, random, backoff);
    this.fabric = fabric;
    this.links = links;
    this.pass = pass;
    this.calls = new CallClient(this, links.length);
  }

  @Override
  public void read(long remote, long local, int bytes) {
    enter();
    try {
      runRead(remote, local, bytes);
      counters().roundTrips++;
    } finally {
      exit();
    }
  }

  @Override
  public boolean view(long remote, int bytes, PoolView view) {
    if (pass != null) {
      return false; // What is looked at later could be looked at behind a fence.
    }
    MemoryServerLink link = link(remote);
    view.set(link.segment(), link.position(remote, bytes));
    counters().countRead(bytes);
    return true;
  }

  @Override
  public long touch(long remote, int bytes) {
    MemoryServerLink link = link(remote);
    if (pass != null || !link.isUsable()) {
      return 0;
    }
    long at = link.position(remote, bytes);
    long sum = 0;
    for (int i = 0; i < bytes; i += LINE_BYTES) {
      sum += Words.get(link.segment(), at + i);
    }
    return sum;
  }

  @Override
  public void write(long remote, long local, int bytes) {
    enter();
    try {
      runWrite(remote, local, bytes);
      counters().roundTrips++;
    } finally {
      exit();
    }
  }

  @Override
  public long cas(long remote, long expected, long desired) {
    enter();
    try {
      long found = runCas(remote, expected, desired);
      counters().roundTrips++;
      return found;
    } finally {
      exit();
    }
  }

  @Override
  public long faa(long remote, long addend) {
    enter();
    try {
      long before = runFaa(remote, addend);
      counters().roundTrips++;
      return before;
    } finally {
      exit();
    }
  }

  @Override
  public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    enter();
    try {
      long found = runMaskedCas(remote, compare, compareMask, swap, swapMask);
      counters().roundTrips++;
      return found;
    } finally {
      exit();
    }
  }

  @Override
  public long maskedFaa(long remote, long addend, long boundaries) {
    enter();
    try {
      long before = runMaskedFaa(remote, addend, boundaries);
      counters().roundTrips++;
      return before;
    } finally {
      exit();
    }
  }

  @Override
  public boolean maskedCas16(long remote, long operands) {
    enter();
    try {
      boolean stored = runMaskedCas16(remote, operands);
      counters().roundTrips++;
      return stored;
    } finally {
      exit();
    }
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
    list.setDone(0);
    enter();
    try {
      while (done < size) {
        run(list, done);
        done++;
      }
    } finally {
      list.setDone(done);
      exit();
    }
    if (size > 0) {
      counters().roundTrips++;
    }
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    checkOpen();
    checkCall(server, links.length, function, message, requestBytes);
    enter();
    try {
      int responseBytes = calls.call(links[server], function, message, requestBytes);
      counters().countCall(requestBytes, responseBytes);
      return responseBytes;
    } finally {
      exit();
    }
  }

  @Override
  public void close() {
    links = NO_LINKS;
    fabric.forget(this);
    if (pass != null) {
      pass.close();
    }
  }

  private void enter() {
    if (pass != null) {
      pass.enter();
    }
  }

  private void exit() {
    if (pass != null) {
      pass.exit();
    }
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
