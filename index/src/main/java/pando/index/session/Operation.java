package pando.index.session;

/** An operation on one key, which a compute server or a memory server carries out. */
public enum Operation {
  GET(1),
  PUT(2),
  PUT_IF_ABSENT(3),
  UPDATE(4),
  REMOVE(5);

  private static final Operation[] ALL = values();

  /** What stands for it in a message. */
  public final long code;

  Operation(long code) {
    this.code = code;
  }

  /** Returns the operation that a message names. */
  public static Operation of(long code) {
    for (Operation operation : ALL) {
      if (operation.code == code) {
        return operation;
      }
    }
    throw new IllegalArgumentException("no such operation: code=" + code);
  }

  /** Tells whether the operation stores its value, depending on whether the key is there. */
  public boolean stores(boolean found) {
    return switch (this) {
      case PUT -> true;
      case PUT_IF_ABSENT -> !found;
      case UPDATE -> found;
      case GET, REMOVE -> false;
    };
  }
}
