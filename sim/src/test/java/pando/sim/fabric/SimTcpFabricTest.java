package pando.sim.fabric;

import pando.sim.NetworkKind;

/** The same over TCP. */
class SimTcpFabricTest extends SimFabricTest {
  @Override
  NetworkKind network() {
    return NetworkKind.TCP;
  }

  @Override
  protected int atomicityBytes() {
    return Long.BYTES;
  }

  @Override
  protected boolean remoteProcessor() {
    return true;
  }
}
