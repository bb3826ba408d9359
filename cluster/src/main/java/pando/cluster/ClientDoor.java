package pando.cluster;

import java.util.Optional;
import java.util.function.Supplier;
import pando.index.RangeIndex;

/** Where a compute server serves clients of the cluster. */
public interface ClientDoor extends AutoCloseable {
  /** Returns where it listens, {@code HOST:PORT} as clients reach it. */
  String address();

  /** Ends all connections. */
  @Override
  void close();

  /** Opens a door over an index. */
  interface Opener {
    /**
     * Opens a door.
     *
     * @param index whose sessions answer only what may be answered, and throw {@link
     *     pando.index.NotServedHereException} for keys of other compute servers
     * @param routes which compute server serves which keys, as this one last heard
     */
    ClientDoor open(RangeIndex index, Supplier<Optional<Routes>> routes);
  }
}
