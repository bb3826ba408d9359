package pando.durable;

import java.util.HashMap;
import java.util.Map;
import pando.index.RangeIndex;
import pando.index.Session;

/** What is in an index of words. */
final class WordContent {
  private WordContent() {}

  /** Returns all entries of an index that nobody changes. */
  static Map<Object, Object> of(RangeIndex index) {
    Map<Object, Object> all = new HashMap<>();
    try (Session session = index.session()) {
      session.scan(
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          (key, value) -> {
            all.put(key, value);
            return true;
          });
    }
    return all;
  }
}
