package pando.baselines.smart;

import java.lang.foreign.MemorySegment;
import pando.fabric.memory.Words;

/**
 * The bytes of a leaf, which is one record: 32, in a place of 64.
 *
 * <pre>
 *   0  key
 *   8  value
 *  16  check     over key, value and counter
 *  24  state     owner 16 | life 2 | counter 46
 *  32  reverse   only with check=reverse: {@link ReversePointers}
 * </pre>
 *
 * <p>The owner is the session that has locked the leaf, 0 if none has: compute server + 1 in 7
 * bits, session in 9. The counter begins at a random number and grows with every change of the
 * value. So words of two different writes of a leaf do not fit their check.
 *
 * <p><b>Life of a leaf.</b> It is written unborn, and locked by its writer. Once a slot leads to
 * it, it is made live; before that slot is emptied, it is made dead. So a key has one live leaf at
 * the most, and a slot leads to it: <i>a live leaf with the right key answers, by whatever way it
 * was reached</i>. The check does not cover the life, which changes alone.
 */
final class LeafLayout {
  /** Bytes of a leaf. */
  static final int BYTES = 32;

  /** Bytes of a leaf with a reverse pointer. */
  static final int REVERSED_BYTES = 40;

  /** Bytes of a leaf's place. */
  static final int PLACE_BYTES = 64;

  static final int KEY = 0;
  static final int VALUE = 8;
  static final int CHECK = 16;
  static final int STATE = 24;
  static final int REVERSE = 32;

  /** Written, and maybe no slot leads to it yet. */
  static final int UNBORN = 0;

  /** A slot leads to it. */
  static final int LIVE = 1;

  /** Removed for good. */
  static final int DEAD = 3;

  private static final int OWNER_SHIFT = 48;

  /** The bits of a state that say who has locked the leaf. */
  static final long OWNER_MASK = 0xFFFFL << OWNER_SHIFT;

  private static final int LIFE_SHIFT = 46;
  private static final long COUNTER_MASK = (1L << LIFE_SHIFT) - 1;

  /** The bits of a state that say whether the leaf is unborn, live or dead. */
  static final long LIFE_MASK = 3L << LIFE_SHIFT;

  private static final int SESSION_BITS = 9;

  private LeafLayout() {}

  /** Returns the owner that stands for a session of a compute server. */
  static int owner(int server, int session) {
    return ((server + 1) << SESSION_BITS) | session;
  }

  /** Returns the compute server of an owner. */
  static int serverOf(int owner) {
    return (owner >>> SESSION_BITS) - 1;
  }

  /** Returns the session of an owner. */
  static int sessionOf(int owner) {
    return owner & ((1 << SESSION_BITS) - 1);
  }

  /** Returns a state. */
  static long state(int owner, int life, long counter) {
    return ((long) owner << OWNER_SHIFT) | ((long) life << LIFE_SHIFT) | (counter & COUNTER_MASK);
  }

  static int owner(long state) {
    return (int) (state >>> OWNER_SHIFT);
  }

  static int life(long state) {
    return (int) (state >>> LIFE_SHIFT) & 3;
  }

  static long counter(long state) {
    return state & COUNTER_MASK;
  }

  /** Returns a state with another life and another owner. */
  static long with(long state, int owner, int life) {
    return state(owner, life, counter(state));
  }

  /** Writes a whole leaf into local memory. */
  static void set(MemorySegment memory, long at, long key, long value, long state) {
    Words.set(memory, at + KEY, key);
    Words.set(memory, at + VALUE, value);
    Words.set(memory, at + CHECK, check(key, value, counter(state)));
    Words.set(memory, at + STATE, state);
  }

  static long key(MemorySegment memory, long at) {
    return Words.get(memory, at + KEY);
  }

  static long value(MemorySegment memory, long at) {
    return Words.get(memory, at + VALUE);
  }

  static long state(MemorySegment memory, long at) {
    return Words.get(memory, at + STATE);
  }

  /** Returns whether a leaf is live. */
  static boolean isLive(MemorySegment memory, long at) {
    return life(state(memory, at)) == LIVE;
  }

  /** Returns whether what was READ is one whole leaf: not of two writes, and no inner node. */
  static boolean isWhole(MemorySegment memory, long at) {
    long counter = counter(state(memory, at));
    return Words.get(memory, at + CHECK) == check(key(memory, at), value(memory, at), counter);
  }

  private static long check(long key, long value, long counter) {
    long sum = KeyPath.mix(key + 0x9E37_79B9_7F4A_7C15L);
    sum = KeyPath.mix(sum ^ value);
    return KeyPath.mix(sum ^ counter);
  }
}
