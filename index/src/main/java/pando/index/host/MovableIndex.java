package pando.index.host;

import java.util.function.BiFunction;
import pando.fabric.Fabric;
import pando.index.IndexOptions;
import pando.index.MovablePartitions;
import pando.index.Partitioning;

/**
 * An index whose ranges of keys go from one compute server to another while operations run.
 *
 * @param <S> a compute server
 * @param <W> one session's worker at a compute server
 */
public abstract class MovableIndex<S extends HostedServer, W extends HostedWorker>
    extends HostedIndex<S, W> implements MovablePartitions {
  /** As in {@link HostedIndex}. */
  protected MovableIndex(
      Fabric fabric, IndexOptions options, int first, int count, BiFunction<S, Integer, W> opener) {
    super(fabric, options, first, count, opener);
  }

  /** As in {@link HostedIndex}. */
  protected MovableIndex(
      Fabric fabric, IndexOptions options, int number, BiFunction<S, Integer, W> opener) {
    super(fabric, options, number, opener);
  }

  @Override
  public final long moveBoundary(int server, long low) {
    return movable().moveBoundary(server, low);
  }

  @Override
  public final int split(int server, long key) {
    return movable().split(server, key);
  }

  @Override
  public final boolean split(int server, long key, int receiver) {
    return movable().split(server, key, receiver);
  }

  @Override
  public final int addComputeServer(int from) {
    return movable().addComputeServer(from);
  }

  @Override
  public final boolean addComputeServer(int from, int receiver) {
    return movable().addComputeServer(from, receiver);
  }

  @Override
  public final void removeComputeServer(int server) {
    movable().removeComputeServer(server);
  }

  @Override
  public final void takeOver(int lost, int heir) {
    movable().takeOver(lost, heir);
  }

  @Override
  public final long sizeEstimate(int server) {
    return movable().sizeEstimate(server);
  }

  @Override
  public final void refreshPartitions() {
    movable().refreshPartitions();
  }

  @Override
  public final Partitioning readPartitions() {
    return movable().readPartitions();
  }

  private MovablePartitions movable() {
    if (!options().hasMovablePartitions()) {
      throw unmovable();
    }
    return changes();
  }
}
