package pando.index.dex;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.Partitioning;
import pando.index.Session;
import pando.index.pool.Arguments;

/** Sends each operation of one thread to the compute server that owns the key. */
final class DexSession implements Session {
  private static final int ATTEMPTS_MAX = 1_000;

  private final DexIndex index;
  private final @Nullable PartitionWorker[] workers =
      new @Nullable PartitionWorker[DexOptions.COMPUTE_SERVERS_MAX];
  private final long[] scanKeys;
  private final long[] scanValues;
  private boolean closed;
  private long key;
  private long value;

  DexSession(DexIndex index, int leafCapacity) {
    this.index = index;
    this.scanKeys = new long[leafCapacity];
    this.scanValues = new long[leafCapacity];
  }

  @Override
  public long key() {
    return key;
  }

  @Override
  public long value() {
    return value;
  }

  @Override
  public boolean get(long wanted) {
    PartitionWorker worker = enter(wanted);
    try {
      return result(wanted, worker, worker.get(wanted));
    } finally {
      worker.exit();
    }
  }

  @Override
  public boolean put(long wanted, long stored) {
    return store(Operation.PUT, wanted, stored);
  }

  @Override
  public boolean putIfAbsent(long wanted, long stored) {
    return !store(Operation.PUT_IF_ABSENT, wanted, stored);
  }

  @Override
  public boolean update(long wanted, long stored) {
    return store(Operation.UPDATE, wanted, stored);
  }

  private boolean store(Operation operation, long wanted, long stored) {
    PartitionWorker worker = enter(wanted);
    try {
      return result(wanted, worker, worker.store(operation, wanted, stored));
    } finally {
      worker.exit();
    }
  }

  @Override
  public boolean remove(long wanted) {
    PartitionWorker worker = enter(wanted);
    try {
      return result(wanted, worker, worker.remove(wanted));
    } finally {
      worker.exit();
    }
  }

  private boolean result(long wanted, PartitionWorker worker, boolean found) {
    key = wanted;
    value = worker.value();
    return found;
  }

  @Override
  public boolean floor(long wanted) {
    return edge(wanted, true);
  }

  @Override
  public boolean ceiling(long wanted) {
    return edge(wanted, false);
  }

  /**
   * Asks one partition after the other. Those that had nothing are looked at once more when another
   * had something: if their leaves are unchanged, the answer holds for that moment.
   */
  private boolean edge(long wanted, boolean down) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Partitioning partitioning = index.partitioning();
      long probe = wanted;
      while (true) {
        PartitionWorker worker = enter(probe);
        boolean found;
        long bound;
        try {
          found = down ? worker.floor(probe) : worker.ceiling(probe);
          bound = down ? worker.server().low() : worker.server().high();
          key = worker.key();
          value = worker.value();
        } finally {
          worker.exit();
        }
        boolean end = bound == (down ? Long.MIN_VALUE : Long.MAX_VALUE);
        if (found || end) {
          if (areTrailsCurrent(partitioning, wanted, probe, down)) {
            return found;
          }
          break;
        }
        probe = down ? bound - 1 : bound + 1;
      }
    }
    throw new StalledException(
        "leaves between a key and its neighbour kept changing: key="
            + wanted
            + ", attempts="
            + ATTEMPTS_MAX);
  }

  private boolean areTrailsCurrent(
      Partitioning partitioning, long wanted, long last, boolean down) {
    if (index.partitioning() != partitioning) {
      return false;
    }
    int step = down ? -1 : 1;
    int end = partitioning.rangeOfKey(last);
    for (int range = partitioning.rangeOfKey(wanted); range != end; range += step) {
      PartitionWorker worker = workers[partitioning.ownerOfRange(range)];
      if (worker == null || !worker.isTrailCurrent()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public long scan(long from, long to, long limit, EntryVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    Arguments.checkScan(from, to, limit);
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int max = (int) Math.min(scanKeys.length, limit - visited);
      PartitionWorker worker = enter(next);
      int entries;
      long resume;
      try {
        entries = worker.copyLeaf(next, to, max, scanKeys, scanValues);
        resume = worker.resume();
      } finally {
        worker.exit();
      }
      for (int i = 0; i < entries; i++) {
        visited++;
        if (!visitor.visit(scanKeys[i], scanValues[i])) {
          return visited;
        }
      }
      if (resume >= to) {
        return visited;
      }
      next = resume + 1;
    }
    return visited;
  }

  /** Returns a worker of the compute server that owns a key, inside the server's gate. */
  private PartitionWorker enter(long wanted) {
    for (int attempt = 0; ; attempt++) {
      Partitioning partitioning = index.partitioning();
      int owner = partitioning.ownerOfKey(wanted);
      PartitionWorker worker = workers[owner];
      if (worker == null || worker.server().isRetired()) {
        worker = open(owner);
      }
      if (worker != null) {
        worker.enter();
        if (worker.server().owns(wanted)) {
          return worker;
        }
        worker.exit();
      }
      if (attempt == ATTEMPTS_MAX) {
        throw new StalledException(
            "the partitions stayed in motion: key=" + wanted + ", attempts=" + attempt);
      }
      index.awaitOwner(partitioning, wanted, owner, worker != null, attempt);
    }
  }

  private @Nullable PartitionWorker open(int owner) {
    if (closed) {
      throw new IllegalStateException("the session is closed");
    }
    PartitionWorker stale = workers[owner];
    if (stale != null) {
      workers[owner] = null;
      index.retire(stale);
    }
    PartitionWorker worker = index.worker(owner);
    workers[owner] = worker;
    return worker;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (int i = 0; i < workers.length; i++) {
      PartitionWorker worker = workers[i];
      if (worker != null) {
        workers[i] = null;
        index.retire(worker);
      }
    }
  }
}
