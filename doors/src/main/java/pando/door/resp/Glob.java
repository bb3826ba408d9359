package pando.door.resp;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * A pattern of keys: {@code *} is any bytes, {@code ?} one byte, {@code [a-c]} or {@code [^a]} one
 * of several, and {@code \} takes the byte behind it as it is. Immutable.
 */
final class Glob {
  private final byte[] pattern;
  private final byte[] prefix;
  private final boolean isPrefix;

  Glob(byte[] pattern) {
    this.pattern = pattern;
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    int at = 0;
    while (at < pattern.length && "*?[\\".indexOf(pattern[at]) < 0) {
      plain.write(pattern[at++]);
    }
    this.prefix = plain.toByteArray();
    this.isPrefix = at == pattern.length - 1 && pattern[at] == '*';
  }

  /** Returns what all that matches begins with. */
  byte[] prefix() {
    return prefix;
  }

  /** Returns whether a key matches, whatever it begins with. */
  boolean matchesAny(byte[] key) {
    boolean hasPrefix =
        key.length >= prefix.length
            && Arrays.equals(key, 0, prefix.length, prefix, 0, prefix.length);
    return hasPrefix && matches(key);
  }

  /** Returns whether a key matches that begins with the prefix. */
  boolean matches(byte[] key) {
    if (isPrefix) {
      return true;
    }
    int p = 0;
    int k = 0;
    int star = -1;
    int behindStar = 0;
    while (k < key.length) {
      int next = p < pattern.length && pattern[p] != '*' ? step(p, key[k]) : -1;
      if (p < pattern.length && pattern[p] == '*') {
        star = p++;
        behindStar = k;
      } else if (next >= 0) {
        p = next;
        k++;
      } else if (star >= 0) {
        // The last star takes one byte more; those before need not, since any bytes follow them.
        p = star + 1;
        k = ++behindStar;
      } else {
        return false;
      }
    }
    while (p < pattern.length && pattern[p] == '*') {
      p++;
    }
    return p == pattern.length;
  }

  /** Returns the place behind what takes one byte, or -1 if it does not take this one. */
  private int step(int p, byte letter) {
    return switch (pattern[p]) {
      case '?' -> p + 1;
      case '[' -> several(p + 1, letter);
      case '\\' -> {
        int taken = p + 1 < pattern.length ? p + 1 : p;
        yield pattern[taken] == letter ? taken + 1 : -1;
      }
      default -> pattern[p] == letter ? p + 1 : -1;
    };
  }

  private int several(int start, byte letter) {
    int p = start;
    boolean not = p < pattern.length && pattern[p] == '^';
    if (not) {
      p++;
    }
    boolean is = false;
    while (p < pattern.length && pattern[p] != ']') {
      if (pattern[p] == '\\' && p + 1 < pattern.length) {
        is |= pattern[p + 1] == letter;
        p += 2;
      } else if (p + 2 < pattern.length && pattern[p + 1] == '-') {
        int one = pattern[p] & 0xFF;
        int other = pattern[p + 2] & 0xFF;
        int its = letter & 0xFF;
        is |= its >= Math.min(one, other) && its <= Math.max(one, other);
        p += 3;
      } else {
        is |= pattern[p] == letter;
        p++;
      }
    }
    int behind = Math.min(p + 1, pattern.length);
    return is != not ? behind : -1;
  }
}
