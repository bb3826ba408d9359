package pando.client;

import java.time.Duration;
import pando.fabric.tcp.Authentication;

/**
 * How a client proves who it is, and how long it waits. Immutable.
 *
 * @param authentication of both sides; with TLS, a certificate of the role {@code client}
 * @param patience longest time in which an operation is sent again, while no compute server serves
 *     its key or none can be reached
 * @param answerTimeout longest wait for one answer, after which the connection is cut; a compute
 *     server may take seconds where another one is slow
 */
public record ClientOptions(
    Authentication authentication, Duration patience, Duration answerTimeout) {
  private static final Duration LONGEST = Duration.ofHours(1);

  /** Checks that times are more than 0, and at most an hour. */
  public ClientOptions {
    checkTime("patience", patience);
    checkTime("answerTimeout", answerTimeout);
  }

  /** Returns options without authentication, with a patience of 2 seconds and 10 for an answer. */
  public static ClientOptions defaults() {
    return new ClientOptions(Authentication.none(), Duration.ofSeconds(2), Duration.ofSeconds(10));
  }

  /** Returns these options with another authentication. */
  public ClientOptions withAuthentication(Authentication other) {
    return new ClientOptions(other, patience, answerTimeout);
  }

  /** Returns these options with another patience. */
  public ClientOptions withPatience(Duration other) {
    return new ClientOptions(authentication, other, answerTimeout);
  }

  /** Returns these options with another time for an answer. */
  public ClientOptions withAnswerTimeout(Duration other) {
    return new ClientOptions(authentication, patience, other);
  }

  private static void checkTime(String name, Duration time) {
    if (time.compareTo(Duration.ZERO) <= 0 || time.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "no such time: " + name + "=" + time + ", longest=" + LONGEST);
    }
  }
}
