package pando.door.resp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * A pattern of keys: {@code *} is any bytes, {@code ?} one byte, {@code [a-c]} or {@code [^a]} one
 * of several, and {@code \} takes the byte behind it as it is. It is parsed once, so that whether
 * one of several bytes is that of a key does not depend on how many there are. Immutable.
 */
final class Glob {
  /** So many letters that are compared take as long as an entry of an index. */
  static final int LETTERS_OF_WORK = 1024;

  /** A step that takes any bytes. Steps from 0 take the byte with that number. */
  private static final int BYTES = -1;

  /** The first step that takes one of several bytes, those of the first set; then downwards. */
  private static final int ONE_OF_FIRST = -2;

  private final byte[] prefix;
  private final boolean isPrefix;
  private final int[] steps;
  private final List<BitSet> sets;

  Glob(byte[] pattern) {
    Parser parser = new Parser(pattern);
    this.steps = parser.steps();
    this.sets = parser.sets;
    int length = 0;
    while (length < steps.length && steps[length] >= 0 && pattern[length] != '\\') {
      length++;
    }
    this.prefix = Arrays.copyOf(pattern, length);
    this.isPrefix = length == steps.length - 1 && steps[length] == BYTES;
  }

  /** Returns what all that matches begins with. */
  byte[] prefix() {
    return prefix;
  }

  /** Returns how many entries of an index take as long as a match may take. */
  long work(int keyBytes) {
    return isPrefix ? 0 : (long) keyBytes * steps.length / LETTERS_OF_WORK;
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
    int step = 0;
    int at = 0;
    int star = -1;
    int behindStar = 0;
    while (at < key.length) {
      if (step < steps.length && steps[step] == BYTES) {
        star = step++;
        behindStar = at;
      } else if (step < steps.length && takes(steps[step], key[at] & 0xFF)) {
        step++;
        at++;
      } else if (star >= 0) {
        // The last star takes one byte more; those before need not, since any bytes follow them.
        step = star + 1;
        at = ++behindStar;
      } else {
        return false;
      }
    }
    return step == steps.length || (step == steps.length - 1 && steps[step] == BYTES);
  }

  private boolean takes(int step, int letter) {
    return step >= 0 ? step == letter : sets.get(ONE_OF_FIRST - step).get(letter);
  }

  /** Makes steps of a pattern. */
  private static final class Parser {
    /** With more steps, as no two that take any bytes are in a row, no key is long enough. */
    private static final int STEPS_MAX = 2 << Character.SIZE;

    private static final int LETTERS = 256;

    final List<BitSet> sets = new ArrayList<>();
    private final byte[] pattern;
    private int at;

    Parser(byte[] pattern) {
      this.pattern = pattern;
    }

    int[] steps() {
      int[] steps = new int[Math.min(pattern.length, STEPS_MAX)];
      int count = 0;
      while (at < pattern.length && count < STEPS_MAX) {
        int step = step();
        if (step != BYTES || count == 0 || steps[count - 1] != BYTES) {
          steps[count++] = step;
        }
      }
      return Arrays.copyOf(steps, count);
    }

    private int step() {
      byte letter = pattern[at++];
      return switch (letter) {
        case '*' -> BYTES;
        case '?' -> oneOf(all());
        case '[' -> oneOf(several());
        case '\\' -> at < pattern.length ? next() : letter;
        default -> letter & 0xFF;
      };
    }

    private int oneOf(BitSet set) {
      sets.add(set);
      return ONE_OF_FIRST - (sets.size() - 1);
    }

    private static BitSet all() {
      BitSet all = new BitSet(LETTERS);
      all.set(0, LETTERS);
      return all;
    }

    private int next() {
      return pattern[at++] & 0xFF;
    }

    /** Reads a class up to its end, or that of the pattern. */
    private BitSet several() {
      boolean not = at < pattern.length && pattern[at] == '^';
      if (not) {
        at++;
      }
      BitSet set = new BitSet(LETTERS);
      while (at < pattern.length && pattern[at] != ']') {
        int one = next();
        if (one == '\\' && at < pattern.length) {
          set.set(next());
        } else if (at + 1 < pattern.length && pattern[at] == '-') {
          at++;
          int other = next();
          set.set(Math.min(one, other), Math.max(one, other) + 1);
        } else {
          set.set(one);
        }
      }
      at++;
      if (not) {
        set.flip(0, LETTERS);
      }
      return set;
    }
  }
}
