package pando.bench.peers;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import pando.bench.strings.LoadedStrings;
import pando.index.bytes.ByteSession;

/** Byte strings of Pando. */
record StringsPeer(LoadedStrings loaded) implements Peer {
  @Override
  public PeerSession session() {
    ByteSession session = loaded.index().session();
    MemorySegment stored = MemorySegment.ofArray(new byte[Long.BYTES]);
    return new PeerSession() {
      @Override
      public void put(byte[] key, long value) {
        stored.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        session.store(MemorySegment.ofArray(key), stored);
      }

      @Override
      public boolean get(byte[] key) {
        return session.get(MemorySegment.ofArray(key));
      }

      @Override
      public int scan(byte[] from, int limit) {
        return (int) session.scan(MemorySegment.ofArray(from), null, limit, (_, _) -> true);
      }

      @Override
      public void close() {
        session.close();
      }
    };
  }

  @Override
  public void close() {
    loaded.close();
  }
}
