package pando.index.dex;

import org.jspecify.annotations.Nullable;
import pando.fabric.StalledException;
import pando.index.EntryVisitor;
import pando.index.Partitioning;
import pando.index.session.KeyGroups;
import pando.index.session.Request;
import pando.index.session.RoutedSession;

/** One thread's session: sends each operation to the compute server that owns the key. */
final class DexSession extends RoutedSession<PartitionWorker> {
  private static final int ATTEMPTS_MAX = 1_000;

  private final Partitions partitions;
  private final Members members;
  private final Request request = new Request();
  private final long[] scanKeys;
  private final long[] scanValues;

  DexSession(Partitions partitions, Members members, int leafCapacity) {
    super(DexOptions.COMPUTE_SERVERS_MAX);
    this.partitions = partitions;
    this.members = members;
    this.scanKeys = new long[leafCapacity];
    this.scanValues = new long[leafCapacity];
  }

  @Override
  protected boolean operate(Request wanted) {
    PartitionWorker worker = enter(wanted.key());
    try {
      boolean found = worker.operate(wanted);
      setEntry(wanted.key(), worker.value());
      return found;
    } finally {
      worker.exit();
    }
  }

  @Override
  protected void operate(KeyGroups wanted) {
    PartitionWorker worker = enter(wanted.next());
    try {
      wanted.take(worker.server().low(), worker.server().high());
      for (int i = 0; i < wanted.size(); i++) {
        boolean found = worker.operate(wanted.request(i, request));
        if (!wanted.areStored()) {
          wanted.set(i, found, worker.value());
        }
      }
    } finally {
      worker.exit();
    }
  }

  /**
   * Searches one partition after the other. When a partition has the neighbour, the leaves of those
   * that had none are validated: if they are unchanged, the result is a snapshot.
   */
  @Override
  protected boolean neighbour(long wanted, boolean down) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      Partitioning partitioning = partitions.current();
      long probe = wanted;
      while (true) {
        PartitionWorker worker = enter(probe);
        boolean found;
        long bound;
        try {
          found = down ? worker.floor(probe) : worker.ceiling(probe);
          bound = down ? worker.server().low() : worker.server().high();
          setEntry(worker.key(), worker.value());
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
        "leaves between a key and its neighbour kept changing: key=%s, attempts=%s"
            .formatted(wanted, ATTEMPTS_MAX));
  }

  private boolean areTrailsCurrent(
      Partitioning partitioning, long wanted, long last, boolean down) {
    if (partitions.current() != partitioning) {
      return false;
    }
    int step = down ? -1 : 1;
    int end = partitioning.rangeOfKey(last);
    for (int range = partitioning.rangeOfKey(wanted); range != end; range += step) {
      PartitionWorker worker = opened(partitioning.ownerOfRange(range));
      if (worker == null || !worker.isTrailCurrent()) {
        return false;
      }
    }
    return true;
  }

  @Override
  protected long visit(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    long visited = 0;
    long next = from;
    while (visited < limit) {
      int max = (int) Math.min(scanKeys.length, limit - visited);
      PartitionWorker worker = enter(next);
      int entries;
      long resume;
      try {
        entries = worker.copyLeaf(next, to, down, max, scanKeys, scanValues);
        resume = worker.resume();
      } finally {
        worker.exit();
      }
      for (int i = 0; i < entries; i++) {
        int entry = down ? entries - 1 - i : i;
        visited++;
        if (!visitor.visit(scanKeys[entry], scanValues[entry])) {
          return visited;
        }
      }
      if (down ? resume <= to : resume >= to) {
        return visited;
      }
      next = down ? resume - 1 : resume + 1;
    }
    return visited;
  }

  @Override
  protected double estimateSize() {
    double size = 0;
    long next = Long.MIN_VALUE;
    while (true) {
      PartitionWorker worker = enter(next);
      long high = worker.server().high();
      try {
        size += worker.estimateSize();
      } finally {
        worker.exit();
      }
      if (high == Long.MAX_VALUE) {
        return size;
      }
      next = high + 1;
    }
  }

  /** Returns a worker of the compute server that owns a key, inside the server's gate. */
  private PartitionWorker enter(long wanted) {
    for (int attempt = 0; ; attempt++) {
      Partitioning partitioning = partitions.current();
      int owner = partitioning.ownerOfKey(wanted);
      PartitionWorker worker = opened(owner);
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
            "the partitions kept changing: key=" + wanted + ", attempts=" + attempt);
      }
      partitions.awaitOwner(partitioning, wanted, owner, worker != null, attempt);
    }
  }

  private @Nullable PartitionWorker open(int owner) {
    // Close the stale worker first, as the number of open sessions is limited.
    setWorker(owner, null);
    partitions.checkOpen();
    ComputeServer server = members.find(owner);
    setWorker(owner, server == null ? null : members.worker(server));
    return opened(owner);
  }

  @Override
  protected void checkIndexOpen() {
    partitions.checkOpen();
  }

  @Override
  protected void retire(PartitionWorker worker) {
    members.retire(worker);
  }
}
