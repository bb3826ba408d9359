package pando.client.wire;

/** What became of an operation, by its number on the wire. */
public final class Outcome {
  /** Done; the session's answer is {@code false}. The value is the one that is there, or 0. */
  public static final int NO = 0;

  /**
   * Done; the session's answer is {@code true}, and key and value are those of the entry. Of a SCAN
   * or BYTE_SCAN: there may be more, from the key on.
   */
  public static final int YES = 1;

  /** Not done: another compute server owns the key. */
  public static final int NOT_MINE = 2;

  /**
   * Of {@link Op#FLOOR}, {@link Op#CEILING} and the like: no entry as far as this server's keys go;
   * the search goes on at the key. Of byte strings, downwards it goes on below the key.
   */
  public static final int FURTHER = 3;

  /** Not done: the pool is full. */
  public static final int FULL = 4;

  /** Not done: a node is damaged. The value is its address. */
  public static final int CORRUPT = 5;

  /** Not done: a memory server is lost. */
  public static final int LOST = 6;

  /** Not done: a wait reached its limit. */
  public static final int STALLED = 7;

  /** Not done: the compute server is fenced. */
  public static final int FENCED = 8;

  /** It may have been done. */
  public static final int UNKNOWN = 9;

  /** Not done: a memory server could not serve a CALL. */
  public static final int CALL_FAILED = 10;

  /** Not done: a damaged node, or a bug, named bytes outside the pool. */
  public static final int INVALID_ADDRESS = 11;

  /** Not done: the index is closed, or about to be. */
  public static final int CLOSED = 12;

  /** Not done, for a reason of the compute server's own. */
  public static final int FAILED = 13;

  /** Not done: the compute server serves words and was asked for byte strings, or the reverse. */
  public static final int OTHER_KIND = 14;

  private Outcome() {}

  /** Returns whether there is an outcome with a number. */
  public static boolean exists(int outcome) {
    return outcome >= NO && outcome <= OTHER_KIND;
  }
}
