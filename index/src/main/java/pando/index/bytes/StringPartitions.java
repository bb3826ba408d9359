package pando.index.bytes;

import java.util.Objects;
import pando.index.BoundKey;
import pando.index.Lease;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Partitioning;
import pando.index.host.PartitionChanges;

/** The ranges of byte strings, of which this process has one at most. */
final class StringPartitions implements MovablePartitions {
  private final ByteIndex index;

  StringPartitions(ByteIndex index) {
    this.index = index;
  }

  private PartitionChanges<?, ?> changes() {
    index.checkNotAlone();
    return index.labels.changes();
  }

  private static UnsupportedOperationException onlyOneHere(int server) {
    return new UnsupportedOperationException(
        "a process has one compute server of byte strings; others join from processes of their own:"
            + " server="
            + server);
  }

  @Override
  public BoundKey moveBoundary(int server, BoundKey low) {
    return changes().moveBoundary(server, checked(low));
  }

  private static BoundKey checked(BoundKey key) {
    ByteArguments.checkKey(key.string(), ByteIndex.KEY_BYTES_MAX);
    return key;
  }

  @Override
  public int split(int server, long key) {
    throw onlyOneHere(server);
  }

  @Override
  public boolean split(int server, BoundKey key, int receiver) {
    return changes().split(server, checked(key), receiver);
  }

  @Override
  public int addComputeServer(int from) {
    throw onlyOneHere(from);
  }

  @Override
  public boolean addComputeServer(int from, int receiver) {
    return changes().addComputeServer(from, receiver);
  }

  @Override
  public void removeComputeServer(int server) {
    changes().removeComputeServer(server);
  }

  @Override
  public void takeOver(int lost, int heir) {
    changes().takeOver(lost, heir);
  }

  @Override
  public long sizeEstimate(int server) {
    if (server != index.ranges.number()) {
      throw new IllegalArgumentException("compute server does not live here: server=" + server);
    }
    if (!index.gate.isAlone()) {
      index.ranges.follow();
    }
    while (true) {
      ServedKeys served = index.directory.served();
      try {
        return served.isNone() ? 0 : index.sizeEstimate(served.low(), served.high());
      } catch (NotServedHereException e) {
        if (index.directory.served().equals(served)) {
          throw e;
        }
      }
    }
  }

  @Override
  public boolean isHere(int server) {
    return changes().isHere(server);
  }

  @Override
  public void refreshPartitions() {
    changes().refreshPartitions();
    index.ranges.follow();
  }

  @Override
  public Partitioning readPartitions() {
    return index.labels.changes().readPartitions();
  }

  @Override
  public void answerWhile(Lease lease) {
    index.ranges.setLease(Objects.requireNonNull(lease, "lease"));
  }
}
