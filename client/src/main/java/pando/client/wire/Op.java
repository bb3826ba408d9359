package pando.client.wire;

/** Operations by their numbers on the wire, which are those of sessions. */
public final class Op {
  /** Finds the entry of a key. */
  public static final int GET = 1;

  /** Stores a value. */
  public static final int PUT = 2;

  /** Stores a value if the key is absent. */
  public static final int PUT_IF_ABSENT = 3;

  /** Replaces the value of a key that is there. */
  public static final int UPDATE = 4;

  /** Removes a key. */
  public static final int REMOVE = 5;

  /** Stores a value, and does not say what was there. */
  public static final int STORE = 6;

  /** Removes a key, and does not say what was there. */
  public static final int DISCARD = 7;

  /** Replaces the value of a key if it is the one that is expected; the only one of 32 bytes. */
  public static final int REPLACE = 8;

  /** Removes a key if its value is the operation's. */
  public static final int REMOVE_EXPECTED = 9;

  /** Finds the greatest key at or below the operation's, as far down as the server serves keys. */
  public static final int FLOOR = 10;

  /** Finds the least key at or above the operation's, as far up as the server serves keys. */
  public static final int CEILING = 11;

  /** Estimates how many entries the server serves, whatever the key is. */
  public static final int SIZE = 12;

  /** Of byte strings: finds the greatest key below the operation's, as {@link #FLOOR} does. */
  public static final int LOWER = 13;

  /** Of byte strings: finds the least key above the operation's, as {@link #CEILING} does. */
  public static final int HIGHER = 14;

  /** Of byte strings, without a key: finds the greatest, as far down as {@link #FLOOR} does. */
  public static final int LAST = 15;

  /** Without a key: writes what the server has changed and not written to the pool. */
  public static final int FLUSH = 16;

  private Op() {}

  /** Returns whether there is an operation on words with a number. */
  public static boolean isOfWords(int op) {
    return (op >= GET && op <= SIZE) || op == FLUSH;
  }

  /** Returns whether there is an operation on byte strings with a number. */
  public static boolean isOfStrings(int op) {
    return op >= GET && op <= FLUSH && op != SIZE;
  }

  /** Returns whether an operation on byte strings has a key. */
  public static boolean hasKey(int op) {
    return op != LAST && op != FLUSH;
  }

  /** Returns whether an operation on byte strings has a value to be stored. */
  public static boolean hasValue(int op) {
    return op == PUT || op == PUT_IF_ABSENT || op == UPDATE || op == STORE || op == REPLACE;
  }

  /** Returns whether an operation on byte strings has a value that is expected. */
  public static boolean hasExpected(int op) {
    return op == REPLACE || op == REMOVE_EXPECTED;
  }

  /** Returns whether an operation finds an entry that need not be that of its key. */
  public static boolean isNeighbour(int op) {
    return op == FLOOR || op == CEILING || op == LOWER || op == HIGHER || op == LAST;
  }

  /** Returns whether such an operation looks for a key that is less. */
  public static boolean isDown(int op) {
    return op == FLOOR || op == LOWER || op == LAST;
  }

  /** Returns the bytes of an operation on the wire. */
  public static int bytes(int op) {
    return op == REPLACE ? ClientFrame.OPERATION_BYTES + Long.BYTES : ClientFrame.OPERATION_BYTES;
  }

  /** Returns whether an operation changes no entry, so that it may be done twice. */
  public static boolean isRead(int op) {
    return op == GET || op == SIZE || op == FLUSH || isNeighbour(op);
  }

  /** Returns the name of an operation, for a message. */
  public static String name(int op) {
    return switch (op) {
      case GET -> "get";
      case PUT -> "put";
      case PUT_IF_ABSENT -> "putIfAbsent";
      case UPDATE -> "update";
      case REMOVE -> "remove";
      case STORE -> "store";
      case DISCARD -> "discard";
      case REPLACE -> "replace";
      case REMOVE_EXPECTED -> "remove of a value";
      case FLOOR -> "floor";
      case CEILING -> "ceiling";
      case SIZE -> "sizeEstimate";
      case LOWER -> "lower";
      case HIGHER -> "higher";
      case LAST -> "last";
      case FLUSH -> "flush";
      default -> "operation " + op;
    };
  }
}
