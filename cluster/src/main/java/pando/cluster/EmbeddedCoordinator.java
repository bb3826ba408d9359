package pando.cluster;

import java.net.InetSocketAddress;

/** A coordinator that runs in this process, alone. */
public interface EmbeddedCoordinator extends AutoCloseable {
  /** Returns where it listens. */
  InetSocketAddress address();

  /** Ends it; what it keeps stays in its directory. */
  @Override
  void close();
}
