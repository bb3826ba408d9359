package pando.index.blob;

import pando.fabric.UnknownOutcomeException;

/** What became of entries, and so of blobs, where an operation failed. */
public final class Outcomes {
  private Outcomes() {}

  /** Returns whether an operation that failed may have put its word into the entry all the same. */
  public static boolean isUncertain(Throwable failure) {
    if (failure instanceof UnknownOutcomeException) {
      return true;
    }
    for (Throwable suppressed : failure.getSuppressed()) {
      if (suppressed instanceof UnknownOutcomeException) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns what to throw where an entry was changed, and its value before cannot be returned; an
   * {@link Error} is thrown as it is, with the exception suppressed.
   *
   * @param key of the entry, as text
   */
  public static UnknownOutcomeException unreturned(String key, Throwable failure) {
    String message = "the entry was changed, and its value before cannot be returned: key=" + key;
    if (failure instanceof Error error) {
      error.addSuppressed(new UnknownOutcomeException(message));
      throw error;
    }
    return new UnknownOutcomeException(message, failure);
  }
}
