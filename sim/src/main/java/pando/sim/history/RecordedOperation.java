package pando.sim.history;

import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One operation on one key, as its client observed it.
 *
 * @param client number of the client; a client has one operation under way at a time, besides those
 *     whose outcome it never learned
 * @param start time before which it had no effect
 * @param end time by which it had taken effect, {@link #UNKNOWN} if the client never learned the
 *     outcome
 * @param stored the value to store, 0 for operations that store none
 * @param expected the value that an operation expects that {@linkplain Kind#compares compares}
 * @param before the value before it, {@code null} if there was none or the client did not learn it
 */
public record RecordedOperation(
    int client,
    long start,
    long end,
    Kind kind,
    long key,
    long stored,
    long expected,
    @Nullable Long before) {

  /** The end of an operation of unknown outcome: it took effect at any later time, or never. */
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
    REMOVE,
    /** Stores, and does not say what was there before. */
    STORE,
    /** Removes, and does not say what was there before. */
    DISCARD,
    /** Stores where there is the value that is expected. */
    REPLACE,
    /** Removes where there is the value that is expected. */
    REMOVE_EXPECTED;

    /**
     * Returns the kind with a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    static Kind of(String name) {
      for (Kind kind : values()) {
        if (kind.toString().equals(name)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("no such operation: '" + name + "'");
    }

    /** Returns whether the operation may store a value. */
    boolean stores() {
      return this != GET && !isRemoval();
    }

    boolean isRemoval() {
      return this == REMOVE || this == DISCARD || this == REMOVE_EXPECTED;
    }

    /** Returns whether the operation does something only where there is the value it expects. */
    public boolean compares() {
      return this == REPLACE || this == REMOVE_EXPECTED;
    }

    /** Returns whether the operation says what was there before. */
    public boolean answers() {
      return this != STORE && this != DISCARD;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Creates an operation that compares nothing. */
  public RecordedOperation(
      int client, long start, long end, Kind kind, long key, long stored, @Nullable Long before) {
    this(client, start, end, kind, key, stored, 0, before);
  }

  /** Returns a read that found a value, or {@code null} for none. */
  public static RecordedOperation read(
      int client, long start, long end, long key, @Nullable Long found) {
    return new RecordedOperation(client, start, end, Kind.GET, key, 0, found);
  }

  /** Returns a change whose client never learned its outcome. */
  public static RecordedOperation unknown(
      int client, long start, Kind kind, long key, long stored, long expected) {
    return new RecordedOperation(client, start, UNKNOWN, kind, key, stored, expected, null);
  }

  /** Returns whether the client learned the outcome. */
  public boolean isKnown() {
    return end != UNKNOWN;
  }

  /** Returns whether the result is right if the key has a value, {@code null} for none. */
  boolean answersFor(@Nullable Long state) {
    return !isKnown() || !kind.answers() || Objects.equals(before, state);
  }

  private boolean matches(@Nullable Long state) {
    return state != null && state == expected;
  }

  /** Returns the value after it. */
  @Nullable Long after(@Nullable Long state) {
    return switch (kind) {
      case GET -> state;
      case PUT, STORE -> Long.valueOf(stored);
      case PUT_IF_ABSENT -> state == null ? Long.valueOf(stored) : state;
      case UPDATE -> state == null ? null : Long.valueOf(stored);
      case REMOVE, DISCARD -> null;
      case REPLACE -> matches(state) ? Long.valueOf(stored) : state;
      case REMOVE_EXPECTED -> matches(state) ? null : state;
    };
  }
}
