package pando.durable;

import java.util.function.Supplier;
import pando.index.BoundKey;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.Partitioning;

/**
 * The ranges of an index whose log memory servers hold. What the log has of a range is in the pool
 * before the range is given away, and in the index before one that is taken over is served.
 */
final class LoggedPartitions implements MovablePartitions {
  private final MovablePartitions inner;
  private final ClusterLog log;

  LoggedPartitions(MovablePartitions inner, ClusterLog log) {
    this.inner = inner;
    this.log = log;
  }

  @Override
  public BoundKey moveBoundary(int server, BoundKey low) {
    return give(() -> inner.moveBoundary(server, low));
  }

  @Override
  public int split(int server, long key) {
    throw onlyOneHere();
  }

  @Override
  public boolean split(int server, BoundKey key, int receiver) {
    return give(() -> inner.split(server, key, receiver));
  }

  @Override
  public int addComputeServer(int from) {
    throw onlyOneHere();
  }

  private static UnsupportedOperationException onlyOneHere() {
    return new UnsupportedOperationException(
        "a process with a log has one compute server; others join from processes of their own");
  }

  @Override
  public boolean addComputeServer(int from, int receiver) {
    return give(() -> inner.addComputeServer(from, receiver));
  }

  @Override
  public void removeComputeServer(int server) {
    Boolean _ =
        give(() -> {
          inner.removeComputeServer(server);
          return true;
        });
  }

  private <T> T give(Supplier<T> giving) {
    return log.afterPass(giving);
  }

  /** Throws: the log of the lost one is to be replayed, see {@link ClusterLog#inherit}. */
  @Override
  public void takeOver(int lost, int heir) {
    throw new UnsupportedOperationException("a log is inherited, too: lost=" + lost);
  }

  @Override
  public long sizeEstimate(int server) {
    return inner.sizeEstimate(server);
  }

  @Override
  public boolean isHere(int server) {
    return inner.isHere(server);
  }

  @Override
  public void refreshPartitions() {
    inner.refreshPartitions();
  }

  @Override
  public Partitioning readPartitions() {
    return inner.readPartitions();
  }

  @Override
  public void answerWhile(Lease lease) {
    log.answerWhile(lease);
  }
}
