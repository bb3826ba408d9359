package pando.bench.peers;

import pando.bench.peers.Peer.PeerSession;

/** A session of a store that has only words. */
abstract class WordSession implements PeerSession {
  @Override
  public final void put(byte[] key, long value) {
    throw words();
  }

  @Override
  public final boolean get(byte[] key) {
    throw words();
  }

  @Override
  public final int scan(byte[] from, int limit) {
    throw words();
  }

  private static UnsupportedOperationException words() {
    return new UnsupportedOperationException("keys are words");
  }
}
