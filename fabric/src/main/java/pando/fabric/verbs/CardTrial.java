package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.function.Function;
import pando.fabric.base.MaskedWords;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvSendWr;

/**
 * Tries verbs on a scratch line, which no one else uses, and judges what came of them. A kind of
 * verb counts as there only if every try gave what it should: its result, the words that it
 * changes, and those beside them that it must not.
 *
 * <p>Each try is a list {WRITE of the line, the verb, READ of the line}; every second time the READ
 * goes by itself. So it also shows that masked atomics keep their place among other verbs, and
 * complete where they are the last. The operands distinguish orders, byte orders and fields: no
 * word is the same backwards, and compared bits differ from the word outside their mask.
 */
final class CardTrial implements AutoCloseable {
  /** By which verbs reach the line. */
  interface Way {
    /**
     * Runs verbs, which are not ended yet, and waits for them. After a failure the next ones go by
     * another queue pair.
     *
     * @return what became of the first verb that failed, or success
     */
    Status run(WorkRequests requests);
  }

  /** Bytes of local memory that it needs. */
  static final int LOCAL_BYTES = 512;

  private static final int LINE = Offer.SCRATCH_BYTES;
  private static final int WORDS = LINE / Long.BYTES;

  /** The word that 8-byte verbs use; 16-byte ones use the next one, too. */
  private static final int WORD = 2;

  private static final int AT = WORD * Long.BYTES;

  // Where things are in local memory.
  private static final int BEFORE = 0;
  private static final int AFTER = LINE;
  private static final int FOUND = 2 * LINE;
  private static final int OPERANDS = 3 * LINE;

  private static final long GUARD = 0x1f2e_3d4c_5b6a_7988L;
  private static final int RANDOM_TRIES = 16;

  private final Way way;
  private final MemorySegment memory;
  private final int localKey;
  private final Offer.Place line;
  private final WorkRequests requests = new WorkRequests(3);
  private final SplittableRandom random = new SplittableRandom(1);
  private int tries;

  /**
   * Creates it.
   *
   * @param memory of {@link #LOCAL_BYTES}, for this alone
   * @param localKey by which the memory is registered
   * @param line 64 bytes, at a multiple of as many
   */
  CardTrial(Way way, NativeMemory memory, int localKey, Offer.Place line) {
    this.way = way;
    this.memory = memory.segment();
    this.localKey = localKey;
    this.line = line;
  }

  /**
   * Makes a trial, with local memory that is registered for it.
   *
   * @param line 64 bytes, at a multiple of as many
   * @return what was found by it
   */
  static <R> R on(Device device, Way way, Offer.Place line, Function<CardTrial, R> what) {
    try (NativeMemory memory = NativeMemory.allocate(LOCAL_BYTES);
        Region local = device.register(memory.segment(), IbvMr.LOCAL_WRITE);
        CardTrial trial = new CardTrial(way, memory, local.localKey(), line)) {
      return what.apply(trial);
    }
  }

  /** The verb that is tried. */
  private interface Verb {
    void add(long found, int localKey, long remote, int remoteKey);
  }

  /** Returns whether WRITE, READ, CAS and FAA work. Leaves zeros. */
  boolean seesPlain() {
    long word = 0x8091_a2b3_c4d5_e6f7L;
    long other = 0x0123_4567_89ab_cdefL;
    boolean works =
        seesCas(word, word, other)
            && seesCas(word, word ^ 1, other)
            && seesCas(word, word ^ Long.MIN_VALUE, other)
            && sees(
                words(word),
                words(word + other),
                (found, key, remote, remoteKey) ->
                    requests.faa(0, found, key, remote, remoteKey, other));
    return works && clear();
  }

  private boolean seesCas(long word, long expected, long desired) {
    return sees(
        words(word),
        words(word == expected ? desired : word),
        (found, key, remote, remoteKey) ->
            requests.cas(0, found, key, remote, remoteKey, expected, desired));
  }

  /**
   * Returns whether what is there goes on to work: READs it, adds 0 to it, and stores in place of
   * it what it is. Changes nothing, so that others may use the line meanwhile.
   */
  boolean seesQuietly() {
    begin();
    add(IbvSendWr.READ, AFTER);
    requests.faa(0, at(FOUND), localKey, line.address(), line.key(), 0);
    requests.cas(0, at(FOUND + Long.BYTES), localKey, line.address(), line.key(), 0, 0);
    return way.run(requests) == Status.SUCCESS;
  }

  /** Returns which masked atomics work. Leaves zeros, where verbs work at all. */
  Atomics masked() {
    Atomics found = new Atomics(seesMaskedCas(), seesMaskedFaa(), seesMaskedCas16());
    return clear() ? found : Atomics.NONE;
  }

  private boolean seesMaskedCas() {
    long word = 0x0123_4567_89ab_cdefL;
    long mask = 0x00ff_ff00_0f0f_3c5aL;
    long swap = 0xf1e2_d3c4_b5a6_9788L;
    long swapMask = 0xff00_f0f0_00ff_1e0fL;
    boolean works =
        seesMaskedCas(word, word ^ ~mask, mask, swap, swapMask)
            && seesMaskedCas(word, word ^ 2, mask, swap, swapMask)
            && seesMaskedCas(word, ~word, 0, swap, -1)
            && seesMaskedCas(word, word, -1, swap, 0)
            && seesMaskedCas(word, word ^ Long.MIN_VALUE, -1, swap, -1);
    for (int i = 0; works && i < RANDOM_TRIES; i++) {
      works = seesRandomMaskedCas(i % 2 == 0);
    }
    return works;
  }

  private boolean seesRandomMaskedCas(boolean matching) {
    long word = random.nextLong();
    long mask = random.nextLong();
    long compare = matching ? word ^ (random.nextLong() & ~mask) : random.nextLong();
    return seesMaskedCas(word, compare, mask, random.nextLong(), random.nextLong());
  }

  private boolean seesMaskedCas(
      long word, long compare, long compareMask, long swap, long swapMask) {
    boolean stores = MaskedWords.matches(word, compare, compareMask);
    return sees(
        words(word),
        words(stores ? MaskedWords.swapped(word, swap, swapMask) : word),
        (found, key, remote, remoteKey) ->
            requests.maskedCas(
                0, found, key, remote, remoteKey, compare, compareMask, swap, swapMask));
  }

  private boolean seesMaskedFaa() {
    long word = 0x7fff_fff0_ffff_fff1L;
    long addend = 0x0000_0102_0000_0a0fL;
    boolean works =
        seesMaskedFaa(word, addend, 0)
            && seesMaskedFaa(word, addend, 0x8000_0000_8000_0000L)
            && seesMaskedFaa(word, addend, 0x8000_8000_8000_8000L)
            && seesMaskedFaa(word, -1, 0x8000_0800_0080_8000L);
    for (int i = 0; works && i < RANDOM_TRIES; i++) {
      works = seesMaskedFaa(random.nextLong(), random.nextLong(), random.nextLong());
    }
    return works;
  }

  private boolean seesMaskedFaa(long word, long addend, long boundaries) {
    return sees(
        words(word),
        words(MaskedWords.sum(word, addend, boundaries)),
        (found, key, remote, remoteKey) ->
            requests.maskedFaa(0, found, key, remote, remoteKey, addend, boundaries));
  }

  private boolean seesMaskedCas16() {
    boolean works = true;
    for (int i = 0; works && i < RANDOM_TRIES; i++) {
      // Both words match, the first alone, the second alone, none.
      works = seesMaskedCas16((i & 1) == 0, (i & 2) == 0);
    }
    return works;
  }

  private boolean seesMaskedCas16(boolean firstMatches, boolean secondMatches) {
    long[] words = {random.nextLong(), random.nextLong()};
    boolean[] matching = {firstMatches, secondMatches};
    long[] swapped = new long[2];
    for (int i = 0; i < 2; i++) {
      // A bit that is compared, as the words would match else.
      long mask = random.nextLong() | 1L << random.nextInt(Long.SIZE);
      long differing = matching[i] ? ~mask & random.nextLong() : Long.lowestOneBit(mask);
      long swap = random.nextLong();
      long swapMask = random.nextLong();
      set(OPERANDS, i, words[i] ^ differing);
      set(OPERANDS, 2 + i, mask);
      set(OPERANDS, 4 + i, swap);
      set(OPERANDS, 6 + i, swapMask);
      swapped[i] = MaskedWords.swapped(words[i], swap, swapMask);
    }
    boolean stores = firstMatches && secondMatches;
    return sees(
        words,
        stores ? swapped : words,
        (found, key, remote, remoteKey) ->
            requests.maskedCas16(0, found, key, remote, remoteKey, memory, OPERANDS));
  }

  private static long[] words(long... words) {
    return words;
  }

  /**
   * Has the line contain one or two words among others, and runs a verb on them.
   *
   * @param before the words, which the verb should find
   * @param after what should be in their place then
   */
  private boolean sees(long[] before, long[] after, Verb verb) {
    for (int i = 0; i < WORDS; i++) {
      set(BEFORE, i, random.nextLong());
    }
    set(BEFORE, WORD, before);
    // The room behind a result of 8 bytes must stay as it is.
    set(FOUND, 0, 0, GUARD);
    begin();
    add(IbvSendWr.WRITE, BEFORE);
    verb.add(at(FOUND), localKey, line.address() + AT, line.key());
    tries++;
    if (tries % 2 == 0) {
      // The verb is the last of its list, which alone makes a completion.
      if (way.run(requests) != Status.SUCCESS) {
        return false;
      }
      begin();
    }
    add(IbvSendWr.READ, AFTER);
    if (way.run(requests) != Status.SUCCESS) {
      return false;
    }
    set(BEFORE, WORD, after);
    return get(FOUND, 0) == before[0]
        && get(FOUND, 1) == (before.length == 1 ? GUARD : before[1])
        && memory.asSlice(BEFORE, LINE).mismatch(memory.asSlice(AFTER, LINE)) == -1;
  }

  /** Makes the line zeros; returns whether that worked. */
  private boolean clear() {
    memory.asSlice(BEFORE, LINE).fill((byte) 0);
    begin();
    add(IbvSendWr.WRITE, BEFORE);
    return way.run(requests) == Status.SUCCESS;
  }

  private void begin() {
    requests.clear();
    memory.asSlice(AFTER, LINE).fill((byte) 0);
  }

  private void add(int operation, int place) {
    requests.transfer(operation, 0, at(place), localKey, LINE, line.address(), line.key());
  }

  private void set(int place, int word, long... values) {
    for (int i = 0; i < values.length; i++) {
      Words.set(memory, place + (long) (word + i) * Long.BYTES, values[i]);
    }
  }

  private long get(int place, int word) {
    return Words.get(memory, place + (long) word * Long.BYTES);
  }

  private long at(int place) {
    return memory.address() + place;
  }

  @Override
  public void close() {
    requests.close();
  }
}
