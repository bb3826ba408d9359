package pando.bench.demo;

import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import pando.cli.WrongResultException;
import pando.index.Session;

/** Compares answers with those of an ordinary map, and counts them. */
final class Checks {
  private long passed;

  /** Returns the number of right answers. */
  long passed() {
    return passed;
  }

  /** Returns what a session's operation has answered, null for nothing. */
  static Map.@Nullable Entry<Long, Long> answer(boolean found, Session session) {
    return found ? Map.entry(session.key(), session.value()) : null;
  }

  /** Checks an answer, null for nothing. */
  void check(
      String question,
      Map.@Nullable Entry<Long, Long> answer,
      Map.@Nullable Entry<Long, Long> expected) {
    if (!Objects.equals(answer, expected)) {
      throw new WrongResultException(
          "wrong answer: question="
              + question
              + ", answer="
              + describe(answer)
              + ", expected="
              + describe(expected));
    }
    passed++;
  }

  private static String describe(Map.@Nullable Entry<Long, Long> range) {
    return range == null ? "nothing" : Location.describe(range.getKey(), range.getValue());
  }
}
