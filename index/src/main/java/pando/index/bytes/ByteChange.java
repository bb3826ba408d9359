package pando.index.bytes;

import java.lang.foreign.MemorySegment;
import pando.index.session.Operation;

/** Changes of one key that are given as an {@link Operation}. */
@SuppressWarnings("exports") // Only modules that see operations have them carried out.
public final class ByteChange {
  private ByteChange() {}

  /**
   * Carries a change out.
   *
   * @param stored what the operation stores, if it does
   * @param expected what it expects, if it does
   * @return the operation's answer; where it has none, that it changed the key
   */
  public static boolean carryOut(
      ByteSession session,
      Operation operation,
      MemorySegment key,
      MemorySegment stored,
      MemorySegment expected) {
    switch (operation) {
      case PUT -> {
        return session.put(key, stored);
      }
      case PUT_IF_ABSENT -> {
        return session.putIfAbsent(key, stored);
      }
      case UPDATE -> {
        return session.update(key, stored);
      }
      case REMOVE -> {
        return session.remove(key);
      }
      case REPLACE -> {
        return session.replace(key, expected, stored);
      }
      case REMOVE_EXPECTED -> {
        return session.remove(key, expected);
      }
      case STORE -> session.store(key, stored);
      case DISCARD -> session.discard(key);
      case GET -> throw new IllegalArgumentException("not a change: operation=" + operation);
    }
    return true;
  }
}
