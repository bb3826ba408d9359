package pando.door.resp;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.Consumer;
import pando.index.bytes.ByteStrings;

/**
 * The keys of a door to byte strings that others change at the same time. There is one database,
 * and keys and values are as clients give them, so others see the same entries, and the ranges of a
 * cluster divide them at any key. Nothing is counted.
 */
final class SharedKeyspace extends Keyspace {
  SharedKeyspace(ByteStrings strings) {
    super(strings, 0);
  }

  @Override
  int databases() {
    return 1;
  }

  @Override
  boolean isOwn() {
    return false;
  }

  @Override
  boolean goesTogether() {
    return strings().isRemote();
  }

  @Override
  Store newStore(Consumer<Consumer<Store>> later) {
    return new Store(this, later);
  }

  @Override
  long[] counts() {
    return new long[0];
  }

  @Override
  SequencedMap<String, Long> sizes() {
    return new LinkedHashMap<>();
  }
}
