package pando.door.resp;

import java.util.Locale;

/** How a client says when a key expires. */
enum ExpiryOption {
  /** Seconds from now on. */
  EX(1000, false),
  /** Milliseconds from now on. */
  PX(1, false),
  /** Seconds since 1970. */
  EXAT(1000, true),
  /** Milliseconds since 1970. */
  PXAT(1, true);

  private final long unitMillis;
  private final boolean isAbsolute;

  ExpiryOption(long unitMillis, boolean isAbsolute) {
    this.unitMillis = unitMillis;
    this.isAbsolute = isAbsolute;
  }

  /**
   * Returns the deadline that an argument says, in milliseconds since 1970: above 0, but perhaps
   * passed.
   *
   * @param command for the error
   * @throws Refusal if it is none
   */
  long positive(RespCall call, int i, String command) {
    long given = call.request.integer(i);
    if (given <= 0) {
      throw invalid(command);
    }
    return millis(call, given, command);
  }

  /** As {@link #positive}, but it may also be 0 or less, which has passed. */
  long any(RespCall call, int i, String command) {
    return millis(call, call.request.integer(i), command);
  }

  private long millis(RespCall call, long given, String command) {
    try {
      long millis = Math.multiplyExact(given, unitMillis);
      return isAbsolute ? millis : Math.addExact(millis, call.store.now());
    } catch (ArithmeticException e) {
      throw invalid(command);
    }
  }

  private static Refusal invalid(String command) {
    return new Refusal(
        "ERR invalid expire time in '" + command.toLowerCase(Locale.ROOT) + "' command");
  }
}
