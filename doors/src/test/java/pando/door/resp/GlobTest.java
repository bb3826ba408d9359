package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.index.Seeds;

class GlobTest {
  private static final int PATTERNS = Seeds.count(50_000, 200_000, 10_000_000);

  private static boolean matches(String pattern, String key) {
    return new Glob(pattern.getBytes(ISO_8859_1)).matchesAny(key.getBytes(ISO_8859_1));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "~~ | ~~ | true",
        "~~ | a | false",
        "* | ~~ | true",
        "** | ~~ | true",
        "**a** | bab | true",
        "a* | ~~ | false",
        "a? | a | false",
        "a? | ab | true",
        "[] | a | false",
        "[^] | a | true",
        "[^] | ~~ | false",
        "[a-c] | b | true",
        "[c-a] | b | true",
        "[^c-a] | b | false",
        "[a-] | ] | true",
        "[a-] | - | false",
        "[a | a | true",
        "[ | a | false",
        "[\\]] | ] | true",
        "[\\ | \\ | true",
        "[a-\\] | \\ | true",
        "\\* | * | true",
        "\\* | a | false",
        "\\ | \\ | true",
        "a\\ | a\\ | true",
        "a\\b* | abc | true",
        "a\\b* | a\\bc | false",
        "h[ae]llo*o | hellooo | true",
        "*a*b | xaxxb | true",
        "*a*b | xaxxbc | false",
      })
  void shouldMatchAsInRedis(String pattern, String key, boolean expected) {
    assertThat(matches(pattern, key)).isEqualTo(expected);
  }

  /**
   * Against a matcher that reads the pattern again for each byte, and tries all that a star takes.
   */
  @Test
  void shouldMatchAsOneThatIsWrittenDownPlainly() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3130));
    int matching = 0;
    for (int i = 0; i < PATTERNS; i++) {
      String pattern = word(random, "ab**?[]^-\\\377", 9);
      String key = word(random, "aabb]^-\\\377", 6);
      boolean expected = plainly(pattern, 0, key, 0);
      assertThat(matches(pattern, key)).as("%s %s", pattern, key).isEqualTo(expected);
      matching += expected ? 1 : 0;
    }
    assertThat(matching).isGreaterThan(PATTERNS / 50);
  }

  private static String word(SplittableRandom random, String letters, int lengthMax) {
    StringBuilder word = new StringBuilder();
    for (int i = random.nextInt(lengthMax + 1); i > 0; i--) {
      word.append(letters.charAt(random.nextInt(letters.length())));
    }
    return word.toString();
  }

  private static boolean plainly(String pattern, int p, String key, int k) {
    if (p == pattern.length()) {
      return k == key.length();
    }
    if (pattern.charAt(p) == '*') {
      return plainly(pattern, p + 1, key, k)
          || (k < key.length() && plainly(pattern, p, key, k + 1));
    }
    int behind = k < key.length() ? one(pattern, p, key.charAt(k)) : -1;
    return behind >= 0 && plainly(pattern, behind, key, k + 1);
  }

  /** Returns the place behind what takes one letter, -1 if it does not take this one. */
  private static int one(String pattern, int p, char letter) {
    char first = pattern.charAt(p);
    if (first == '\\' && p + 1 < pattern.length()) {
      return pattern.charAt(p + 1) == letter ? p + 2 : -1;
    }
    if (first != '[') {
      return first == '?' || first == letter ? p + 1 : -1;
    }
    int at = p + 1;
    boolean not = at < pattern.length() && pattern.charAt(at) == '^';
    at += not ? 1 : 0;
    boolean is = false;
    while (at < pattern.length() && pattern.charAt(at) != ']') {
      char least = pattern.charAt(at);
      if (least == '\\' && at + 1 < pattern.length()) {
        is |= pattern.charAt(at + 1) == letter;
        at += 2;
      } else if (at + 2 < pattern.length() && pattern.charAt(at + 1) == '-') {
        char other = pattern.charAt(at + 2);
        is |= letter >= Math.min(least, other) && letter <= Math.max(least, other);
        at += 3;
      } else {
        is |= least == letter;
        at++;
      }
    }
    return is != not ? Math.min(at + 1, pattern.length()) : -1;
  }

  /** A pattern with more steps than keys have bytes is not parsed to its end. */
  @Test
  void shouldMatchNothingWithMoreStepsThanAKeyHasBytes() {
    String longest = "a".repeat((1 << 16) - 1);
    assertThat(matches("?".repeat(longest.length()), longest)).isTrue();
    assertThat(matches("*a".repeat(longest.length()) + "*", longest)).isTrue();
    assertThat(matches("*a".repeat(longest.length() + 1), longest)).isFalse();
    assertThat(matches("?".repeat(1 << 20), longest)).isFalse();
    assertThat(matches("[" + "b".repeat(1 << 20) + "a]" + "*".repeat(1 << 20), "a")).isTrue();
  }
}
