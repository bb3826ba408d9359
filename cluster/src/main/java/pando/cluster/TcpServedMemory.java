package pando.cluster;

import pando.fabric.tcp.TcpMemoryServer;

/** A memory server that listens for compute servers. */
record TcpServedMemory(TcpMemoryServer server) implements ServedMemory {
  @Override
  public String place() {
    return server.place();
  }

  @Override
  public void fence(int computeServer, long leastEpoch) {
    server.fence(computeServer, leastEpoch);
  }

  @Override
  public void awaitClosed() throws InterruptedException {
    server.awaitClosed();
  }

  @Override
  public void close() {
    server.close();
  }
}
