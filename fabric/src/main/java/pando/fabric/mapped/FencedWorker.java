package pando.fabric.mapped;

import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;
import pando.fabric.Backoff;
import pando.fabric.VerbCounters;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.base.Fences;

/**
 * A worker of a compute server that can be fenced. Each verb, list or CALL as a whole is done
 * before the fence, or refused.
 */
final class FencedWorker implements Worker {
  private final Worker worker;
  private final Fences.Pass pass;

  /** Creates it; closing it closes the worker and the pass. */
  FencedWorker(Worker worker, Fences.Pass pass) {
    this.worker = worker;
    this.pass = pass;
  }

  @Override
  public MemorySegment memory() {
    return worker.memory();
  }

  @Override
  public void read(long remote, long local, int bytes) {
    pass.enter();
    try {
      worker.read(remote, local, bytes);
    } finally {
      pass.exit();
    }
  }

  @Override
  public void write(long remote, long local, int bytes) {
    pass.enter();
    try {
      worker.write(remote, local, bytes);
    } finally {
      pass.exit();
    }
  }

  @Override
  public long cas(long remote, long expected, long desired) {
    pass.enter();
    try {
      return worker.cas(remote, expected, desired);
    } finally {
      pass.exit();
    }
  }

  @Override
  public long faa(long remote, long addend) {
    pass.enter();
    try {
      return worker.faa(remote, addend);
    } finally {
      pass.exit();
    }
  }

  @Override
  public long maskedCas(long remote, long compare, long compareMask, long swap, long swapMask) {
    pass.enter();
    try {
      return worker.maskedCas(remote, compare, compareMask, swap, swapMask);
    } finally {
      pass.exit();
    }
  }

  @Override
  public long maskedFaa(long remote, long addend, long boundaries) {
    pass.enter();
    try {
      return worker.maskedFaa(remote, addend, boundaries);
    } finally {
      pass.exit();
    }
  }

  @Override
  public boolean maskedCas16(long remote, long operands) {
    pass.enter();
    try {
      return worker.maskedCas16(remote, operands);
    } finally {
      pass.exit();
    }
  }

  @Override
  public void post(VerbList list) {
    list.setDone(0);
    pass.enter();
    try {
      worker.post(list);
    } finally {
      pass.exit();
    }
  }

  @Override
  public void scatter(VerbList list) {
    list.setDone(0);
    pass.enter();
    try {
      worker.scatter(list);
    } finally {
      pass.exit();
    }
  }

  @Override
  public int call(int server, int function, long message, int requestBytes) {
    pass.enter();
    try {
      return worker.call(server, function, message, requestBytes);
    } finally {
      pass.exit();
    }
  }

  @Override
  public VerbCounters counters() {
    return worker.counters();
  }

  @Override
  public Backoff backoff() {
    return worker.backoff();
  }

  @Override
  public long nanoTime() {
    return worker.nanoTime();
  }

  @Override
  public RandomGenerator random() {
    return worker.random();
  }

  @Override
  public void close() {
    worker.close();
    pass.close();
  }
}
