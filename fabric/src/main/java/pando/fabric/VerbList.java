package pando.fabric;

import java.util.Arrays;

/**
 * Verbs to be posted together, by {@link Worker#post} or {@link Worker#scatter}. Made once and
 * filled again and again: {@link #clear()}, add, post. Allocates only to grow. Not thread-safe.
 */
public final class VerbList {
  /** The kinds of verbs a list can hold. */
  public enum Kind {
    /** {@link Worker#read}. */
    READ(0, 0),
    /** {@link Worker#write}. */
    WRITE(0, 0),
    /** {@link Worker#cas}, the value found goes to a local offset. */
    CAS(16, 8),
    /** {@link Worker#faa}, the value before goes to a local offset. */
    FAA(8, 8),
    /** {@link Worker#maskedCas}, the value found goes to a local offset. */
    MASKED_CAS(32, 8),
    /** {@link Worker#maskedFaa}, the value before goes to a local offset. */
    MASKED_FAA(16, 8),
    /** {@link Worker#maskedCas16}. */
    MASKED_CAS_16(64, 16);

    private final int operandBytes;
    private final int resultBytes;

    Kind(int operandBytes, int resultBytes) {
      this.operandBytes = operandBytes;
      this.resultBytes = resultBytes;
    }

    /** Returns the payload bytes that an atomic sends to the memory server, 0 for others. */
    public int operandBytes() {
      return operandBytes;
    }

    /** Returns the payload bytes that an atomic receives from the memory server, 0 for others. */
    public int resultBytes() {
      return resultBytes;
    }

    /** Returns whether this is an atomic. */
    public boolean isAtomic() {
      return resultBytes > 0;
    }
  }

  /** What became of a verb. */
  public enum Outcome {
    /** It took effect, and what it returns is in local memory. */
    DONE,
    /** It has no effect and never will, but for local bytes that a READ may have changed. */
    NOT_DONE,
    /** It may have taken effect, in part or whole, or may yet do so. Never a READ. */
    UNKNOWN
  }

  private static final int OPERANDS = 4;

  private Kind[] kinds = new Kind[8];
  private long[] remotes = new long[8];
  private long[] locals = new long[8];
  private int[] lengths = new int[8];
  private long[] operands = new long[8 * OPERANDS];
  private Outcome[] outcomes = new Outcome[8];
  private int size;

  /** Whether a verb is not done, so that {@link #outcomes} counts. */
  private boolean failed;

  /** Creates an empty list. */
  public VerbList() {}

  /** Removes all verbs and returns this list. */
  public VerbList clear() {
    size = 0;
    failed = false;
    return this;
  }

  /** Adds {@link Worker#read}. */
  public VerbList read(long remote, long local, int bytes) {
    return add(Kind.READ, remote, local, bytes, 0, 0, 0, 0);
  }

  /** Adds {@link Worker#write}. */
  public VerbList write(long remote, long local, int bytes) {
    return add(Kind.WRITE, remote, local, bytes, 0, 0, 0, 0);
  }

  /** Adds {@link Worker#cas}; the value found goes to the local offset {@code result}. */
  public VerbList cas(long remote, long expected, long desired, long result) {
    return add(Kind.CAS, remote, result, 8, expected, desired, 0, 0);
  }

  /** Adds {@link Worker#faa}; the value before goes to the local offset {@code result}. */
  public VerbList faa(long remote, long addend, long result) {
    return add(Kind.FAA, remote, result, 8, addend, 0, 0, 0);
  }

  /** Adds {@link Worker#maskedCas}; the value found goes to the local offset {@code result}. */
  public VerbList maskedCas(
      long remote, long compare, long compareMask, long swap, long swapMask, long result) {
    return add(Kind.MASKED_CAS, remote, result, 8, compare, compareMask, swap, swapMask);
  }

  /** Adds {@link Worker#maskedFaa}; the value before goes to the local offset {@code result}. */
  public VerbList maskedFaa(long remote, long addend, long boundaries, long result) {
    return add(Kind.MASKED_FAA, remote, result, 8, addend, boundaries, 0, 0);
  }

  /** Adds {@link Worker#maskedCas16}. */
  public VerbList maskedCas16(long remote, long operandsOffset) {
    return add(Kind.MASKED_CAS_16, remote, operandsOffset, 16, 0, 0, 0, 0);
  }

  /** Adds all verbs of another list. */
  public VerbList addAll(VerbList others) {
    for (int i = 0; i < others.size; i++) {
      int first = i * OPERANDS;
      add(
          others.kinds[i],
          others.remotes[i],
          others.locals[i],
          others.lengths[i],
          others.operands[first],
          others.operands[first + 1],
          others.operands[first + 2],
          others.operands[first + 3]);
    }
    return this;
  }

  /** Returns the number of verbs. */
  public int size() {
    return size;
  }

  /** Returns the kind of a verb. */
  public Kind kind(int index) {
    return kinds[index];
  }

  /** Returns the global address of a verb. */
  public long remote(int index) {
    return remotes[index];
  }

  /** Returns the local offset of a verb: of its bytes, or of its result. */
  public long local(int index) {
    return locals[index];
  }

  /** Returns the bytes a verb moves or acts on. */
  public int length(int index) {
    return lengths[index];
  }

  /** Returns an operand of an atomic, in the order of the adding method's parameters, from 0. */
  public long operand(int index, int operand) {
    return operands[index * OPERANDS + operand];
  }

  /**
   * Returns what became of a verb when the list was last posted: {@link Outcome#DONE}, unless that
   * ended in an exception.
   */
  public Outcome outcome(int index) {
    return failed ? outcomes[index] : Outcome.DONE;
  }

  /** For workers: says that the first verbs are done, and those behind them are not. */
  public void setDone(int count) {
    failed = count < size;
    if (failed) {
      Arrays.fill(outcomes, 0, count, Outcome.DONE);
      Arrays.fill(outcomes, count, size, Outcome.NOT_DONE);
    }
  }

  /**
   * For workers: says what became of a verb, after {@link #setDone} has said that not all are done.
   */
  public void setOutcome(int index, Outcome outcome) {
    boolean isRead = kinds[index] == Kind.READ;
    outcomes[index] = isRead && outcome == Outcome.UNKNOWN ? Outcome.NOT_DONE : outcome;
  }

  /** Returns whether this has READs alone; then no outcome is unknown. */
  public boolean isReadsAlone() {
    for (int i = 0; i < size; i++) {
      if (kinds[i] != Kind.READ) {
        return false;
      }
    }
    return true;
  }

  /**
   * Checks that all verbs go to one memory server, as a doorbell list must.
   *
   * @throws IllegalArgumentException if they do not
   */
  public void requireOneServer() {
    long first = remotes[0] >>> GlobalAddress.SERVER_SHIFT;
    for (int i = 1; i < size; i++) {
      if (remotes[i] >>> GlobalAddress.SERVER_SHIFT != first) {
        setDone(0);
        throw new IllegalArgumentException(
            "a doorbell list goes to one memory server: first="
                + GlobalAddress.toString(remotes[0])
                + ", other="
                + GlobalAddress.toString(remotes[i]));
      }
    }
  }

  private VerbList add(
      Kind kind, long remote, long local, int length, long a, long b, long c, long d) {
    if (size == kinds.length) {
      grow();
    }
    kinds[size] = kind;
    remotes[size] = remote;
    locals[size] = local;
    lengths[size] = length;
    int first = size * OPERANDS;
    operands[first] = a;
    operands[first + 1] = b;
    operands[first + 2] = c;
    operands[first + 3] = d;
    size++;
    return this;
  }

  private void grow() {
    int capacity = 2 * size;
    kinds = Arrays.copyOf(kinds, capacity);
    remotes = Arrays.copyOf(remotes, capacity);
    locals = Arrays.copyOf(locals, capacity);
    lengths = Arrays.copyOf(lengths, capacity);
    operands = Arrays.copyOf(operands, capacity * OPERANDS);
    outcomes = Arrays.copyOf(outcomes, capacity);
  }
}
