package pando.sim.history;

import org.jspecify.annotations.Nullable;

/**
 * One operation on one key, as its client saw it.
 *
 * @param client number of the client; a client has one operation under way at a time, but for those
 *     whose outcome it never learned
 * @param start before which it had no effect
 * @param end after which it had its effect, {@link #UNKNOWN} where the client never learned
 * @param wasThere whether the key was there before it
 * @param before the value before it, if the key was there
 * @param stored the value to store, 0 for operations that store none
 */
public record Operation(
    int client,
    long start,
    long end,
    Kind kind,
    long key,
    long stored,
    boolean wasThere,
    long before) {

  /** The end of an operation whose outcome is unknown: it took effect some time, or never. */
  public static final long UNKNOWN = Long.MAX_VALUE;

  /** What an operation does. */
  public enum Kind {
    /** Reads. */
    GET,
    /** Stores. */
    PUT,
    /** Stores where there is nothing. */
    PUT_IF_ABSENT,
    /** Stores where there is something. */
    UPDATE,
    /** Removes. */
    REMOVE
  }

  /** Tells whether the client learned what became of it. */
  public boolean isKnown() {
    return end != UNKNOWN;
  }

  /** Tells whether the answer is right where the key has a value, {@code null} for none. */
  boolean answersFor(@Nullable Long state) {
    if (!isKnown()) {
      return true;
    }
    return state == null ? !wasThere : wasThere && state == before;
  }

  /** Returns the value after it. */
  @Nullable Long after(@Nullable Long state) {
    return switch (kind) {
      case GET -> state;
      case PUT -> Long.valueOf(stored);
      case PUT_IF_ABSENT -> state == null ? Long.valueOf(stored) : state;
      case UPDATE -> state == null ? null : Long.valueOf(stored);
      case REMOVE -> null;
    };
  }
}
