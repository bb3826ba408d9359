package pando.fabric.verbs;

import java.util.Locale;

/** What became of a verb that was posted, as the card says. */
enum Status {
  SUCCESS(0),
  LOCAL_LENGTH(1),
  LOCAL_QUEUE_PAIR(2),
  LOCAL_PROTECTION(4),
  /** It stood behind one that failed: not done, if that one was refused. */
  FLUSHED(5),
  REMOTE_INVALID_REQUEST(9),
  REMOTE_ACCESS(10),
  REMOTE_OPERATION(11),
  /** The other side did not answer. */
  RETRIES_EXCEEDED(12),
  /** The other side had no room for a message, which was not received. */
  RECEIVER_NOT_READY(13),
  LOCAL_ABORTED(16),
  FATAL(19),
  RESPONSE_TIMEOUT(20),
  GENERAL(21),
  OTHER(-1);

  private static final Status[] ALL = values();

  private final int code;

  Status(int code) {
    this.code = code;
  }

  /** Returns the status of a code of the library's. */
  static Status of(int code) {
    for (Status status : ALL) {
      if (status.code == code) {
        return status;
      }
    }
    return OTHER;
  }

  /** Returns whether the other side refused the verb, so that it was not done. */
  boolean isRefused() {
    return this == REMOTE_INVALID_REQUEST || this == REMOTE_ACCESS || this == REMOTE_OPERATION;
  }

  /** Returns whether the fault is on this side; it may be found when the answer comes. */
  boolean isLocal() {
    return this == LOCAL_LENGTH || this == LOCAL_QUEUE_PAIR || this == LOCAL_PROTECTION;
  }

  /** Returns whether neither the verb was done nor any behind it, nor will be. */
  boolean isDoneNever() {
    return isRefused() || this == RECEIVER_NOT_READY;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
