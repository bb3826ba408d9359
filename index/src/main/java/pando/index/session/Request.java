package pando.index.session;

/**
 * An operation on one key, and what it needs. A session has one request, which it uses again and
 * again.
 */
public final class Request {
  private Operation operation = Operation.GET;
  private long key;
  private long stored;
  private long expected;

  /** Creates a request to get key 0. */
  public Request() {}

  /**
   * Sets what is asked for.
   *
   * @param newStored value that the operation stores, if it stores any
   * @param newExpected value that the entry must have, if the operation {@linkplain
   *     Operation#compares compares}
   */
  public Request set(Operation newOperation, long newKey, long newStored, long newExpected) {
    operation = newOperation;
    key = newKey;
    stored = newStored;
    expected = newExpected;
    return this;
  }

  /** Returns the operation. */
  public Operation operation() {
    return operation;
  }

  /** Returns the key. */
  public long key() {
    return key;
  }

  /** Returns the value that the operation stores, if it stores any. */
  public long stored() {
    return stored;
  }

  /** Returns the value that the entry must have, if the operation compares. */
  public long expected() {
    return expected;
  }

  /**
   * Returns whether the operation stores its value.
   *
   * @param found whether the key is there
   * @param value of the key, if it is there
   */
  public boolean stores(boolean found, long value) {
    return operation.stores(found, value == expected);
  }

  /**
   * Returns whether the operation removes the key.
   *
   * @param found whether the key is there
   * @param value of the key, if it is there
   */
  public boolean removes(boolean found, long value) {
    return operation.removes(found, value == expected);
  }
}
