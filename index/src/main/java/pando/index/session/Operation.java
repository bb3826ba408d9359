package pando.index.session;

/** An operation on one key. A compute server or a memory server executes it. */
public enum Operation {
  GET(1),
  PUT(2),
  PUT_IF_ABSENT(3),
  UPDATE(4),
  REMOVE(5),
  /** As {@link #PUT}, but nothing is said of what was there before. */
  STORE(6),
  /** As {@link #REMOVE}, but nothing is said of what was there before. */
  DISCARD(7),
  /** Stores a value if the key has the value that is expected. */
  REPLACE(8),
  /** Removes the key if it has the value that is expected. */
  REMOVE_EXPECTED(9);

  private static final Operation[] ALL = values();

  /** Code of the operation in a message. */
  public final long code;

  Operation(long code) {
    this.code = code;
  }

  /** Returns the operation with a code. */
  public static Operation of(long code) {
    for (Operation operation : ALL) {
      if (operation.code == code) {
        return operation;
      }
    }
    throw new IllegalArgumentException("no such operation: code=" + code);
  }

  /**
   * Returns whether the operation stores its value.
   *
   * @param found whether the key is there
   * @param matches whether its value is the one that is expected
   */
  public boolean stores(boolean found, boolean matches) {
    return switch (this) {
      case PUT, STORE -> true;
      case PUT_IF_ABSENT -> !found;
      case UPDATE -> found;
      case REPLACE -> found && matches;
      case GET, REMOVE, DISCARD, REMOVE_EXPECTED -> false;
    };
  }

  /**
   * Returns whether the operation removes the key.
   *
   * @param found whether the key is there
   * @param matches whether its value is the one that is expected
   */
  public boolean removes(boolean found, boolean matches) {
    return found && isRemoval() && (matches || !compares());
  }

  /** Returns whether the operation says whether the key was there. */
  public boolean answers() {
    return this != STORE && this != DISCARD;
  }

  /** Returns whether the operation may remove a key. */
  public boolean isRemoval() {
    return this == REMOVE || this == DISCARD || this == REMOVE_EXPECTED;
  }

  /**
   * Returns whether the operation does something only if the key has the value that is expected.
   */
  public boolean compares() {
    return this == REPLACE || this == REMOVE_EXPECTED;
  }
}
