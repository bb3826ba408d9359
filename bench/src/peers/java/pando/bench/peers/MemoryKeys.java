package pando.bench.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import pando.bench.peers.Peer.PeerSession;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.strings.MadeIds;
import pando.bench.strings.StringKeySet;

/**
 * The keys of one table, by numbers: words, or strings of 40 hexadecimal digits. Those below the
 * count are loaded, as many behind them can be inserted. Neighbours are not near each other.
 *
 * @param count of loaded keys, below 2^31
 */
record MemoryKeys(boolean isStrings, long count) {
  private static final Records WORDS = new Records(1);

  /** A prime number: multiples of it reach all numbers below the count. */
  private static final long STEP = 0x9E37_79B1L;

  /** Some keys; of one kind there are none. */
  record Batch(long[] words, byte[][] strings) {}

  Batch batch(long[] numbers) {
    long[] words = new long[isStrings ? 0 : numbers.length];
    byte[][] strings = new byte[isStrings ? numbers.length : 0][];
    for (int i = 0; i < numbers.length; i++) {
      if (isStrings) {
        strings[i] = string(numbers[i]).getBytes(ISO_8859_1);
      } else {
        words[i] = WORDS.key(numbers[i]);
      }
    }
    return new Batch(words, strings);
  }

  private String string(long number) {
    long place = number % count * STEP % count;
    return new MadeIds(2 * count).key(2 * place + (number < count ? 0 : 1));
  }

  /** Returns the words that are loaded, in order. */
  SortedRecords sorted() {
    return new SortedRecords(WORDS, count, _ -> {});
  }

  /** Returns the strings that are loaded, in order. */
  StringKeySet strings() {
    MadeIds all = new MadeIds(2 * count);
    long half = count;
    return new StringKeySet() {
      @Override
      public long count() {
        return half;
      }

      @Override
      public String key(long place) {
        return all.key(2 * place);
      }
    };
  }

  /** Puts all keys that are loaded into a store, in no order; returns the store. */
  Peer putAll(Peer peer) {
    try (PeerSession session = peer.session()) {
      for (long number = 0; number < count; number++) {
        Batch one = batch(new long[] {number});
        if (isStrings) {
          session.put(one.strings[0], number);
        } else {
          session.insert(one.words[0], number);
        }
      }
    }
    peer.settle();
    return peer;
  }
}
