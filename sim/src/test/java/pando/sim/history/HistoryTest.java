package pando.sim.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HistoryTest {
  private static History read(String text) {
    try {
      return HistoryText.read(new BufferedReader(new StringReader(text)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "initial 1 10 \n 0 1 2 get 1 = 10",
        "0 1 2 get 1 = none",
        "0 1 2 put 1 5 = none \n 0 3 4 get 1 = 5",
        // Overlapping: the read may come before or after.
        "0 1 9 put 1 5 = none \n 1 2 3 get 1 = none \n 1 4 5 get 1 = 5",
        "0 1 2 put 1 5 = none \n 0 3 4 remove 1 = 5 \n 0 5 6 get 1 = none",
        "0 1 2 update 1 5 = none \n 0 3 4 get 1 = none",
        "0 1 2 put-if-absent 1 5 = none \n 0 3 4 put-if-absent 1 6 = 5 \n 0 5 6 get 1 = 5",
        // Without an answer: nothing is said of what was there before.
        "initial 1 10 \n 0 1 2 store 1 5 \n 0 3 4 get 1 = 5",
        "0 1 2 store 1 5 \n 0 3 4 discard 1 \n 0 5 6 discard 1 \n 0 7 8 get 1 = none",
        "0 1 9 store 1 5 \n 1 2 8 store 1 6 \n 2 10 11 get 1 = 5",
        "0 1 unknown store 1 5 \n 1 2 3 get 1 = none \n 1 4 5 get 1 = 5",
        "initial 1 10 \n 0 1 unknown discard 1 \n 1 2 3 get 1 = 10 \n 1 4 5 get 1 = none",
        // Of unknown outcome: it may have happened, late as well, or not.
        "0 1 unknown put 1 5 \n 1 2 3 get 1 = none \n 1 4 5 get 1 = 5",
        "0 1 unknown put 1 5 \n 1 2 3 get 1 = none",
        "initial 1 10 \n 0 1 unknown remove 1 \n 1 2 3 get 1 = 10 \n 1 4 5 get 1 = none",
        "0 1 unknown put 1 5 \n 1 1 unknown update 1 6 \n 2 4 5 get 1 = 6",
        "initial 1 10 \n 0 1 2 replace 1 11 10 = 10 \n 0 3 4 get 1 = 11",
        "initial 1 10 \n 0 1 2 replace 1 11 9 = 10 \n 0 3 4 get 1 = 10",
        "initial 1 10 \n 0 1 unknown put 1 5 \n 1 2 3 replace 1 11 10 = 5",
        "initial 1 10 \n 0 1 unknown replace 1 5 10 \n 1 2 3 remove-expected 1 10 = 5",
        "initial 1 10 \n 0 1 unknown update 1 5 \n 1 2 3 replace 1 11 10 = 5",
        "initial 1 10 \n 0 1 2 remove-expected 1 10 = 10 \n 0 3 4 get 1 = none",
        "0 1 2 replace 1 11 10 = none \n 0 3 4 remove-expected 1 10 = none",
        // Lost with a compute server that had not written back.
        "initial 1 10 \n 0 1 2 put 1 5 = 10 \n lost 3 9 0 4 \n 0 5 6 get 1 = 10",
        "0 1 2 put 1 5 = none \n lost 3 9 0 4 \n 0 5 6 get 1 = 5 \n 0 7 8 get 1 = none",
        "initial 1 10 \n 0 1 2 put 1 5 = 10 \n lost 3 9 0 4 \n 0 10 11 get 1 = 5",
        "initial 1 10 \n 0 1 2 put 1 5 = 10 \n lost 5 9 0 4 since 2 \n 0 10 11 get 1 = 5",
        "initial 1 10 \n 0 1 3 put 1 5 = 10 \n lost 5 9 0 4 since 2 \n 0 10 11 get 1 = 10",
        // Two expect the same value, and one is first.
        "initial 1 10 \n 0 1 9 replace 1 11 10 = 12 \n 1 1 9 replace 1 12 10 = 10",
        // Nobody read 5 or 6, but what happened next needs them.
        "0 1 unknown put 1 5 \n 1 2 unknown replace 1 6 5 \n 2 3 4 get 1 = 6",
        """
        initial 1 9
        0 1 unknown put 1 5
        1 2 unknown remove-expected 1 5
        2 3 4 get 1 = none
        """,
        // The unconditional removal has to come last.
        """
        initial 1 9
        0 1 unknown remove 1
        1 1 unknown remove-expected 1 9
        2 2 3 get 1 = none
        2 4 5 put 1 7 = none
        2 6 7 get 1 = none
        """,
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 0 9 = 1:10 2:20",
        "initial 1 10 \n 0 1 9 scan 0 9 = \n 1 2 3 remove 1 = 10",
        "0 1 9 scan 0 9 = 1:5 \n 1 2 3 put 1 5 = none",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 9 0 = 2:20 1:10",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 9 2 = 2:20",
      })
  void shouldAccept(String text) {
    assertThat(HistoryCheck.violations(read(text))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "initial 1 10 \n 0 1 2 get 1 = none",
        "0 1 2 get 1 = 10",
        "0 1 2 put 1 5 = none \n 0 3 4 get 1 = none",
        "0 1 2 put 1 5 = none \n 0 3 4 put 1 6 = none",
        "0 1 2 store 1 5 \n 0 3 4 get 1 = none",
        "initial 1 10 \n 0 1 2 discard 1 \n 0 3 4 get 1 = 10",
        "0 1 2 store 1 5 \n 0 3 4 store 1 6 \n 1 5 6 get 1 = 5",
        // A value that was overwritten before the read began.
        "0 1 2 put 1 5 = none \n 0 3 4 put 1 6 = 5 \n 1 5 6 get 1 = 5",
        // Seen, and then no longer.
        "0 1 9 put 1 5 = none \n 1 2 3 get 1 = 5 \n 1 4 5 get 1 = none",
        "0 5 unknown put 1 5 \n 1 2 3 get 1 = 5",
        "initial 1 10 \n 0 1 2 replace 1 11 10 = none",
        "initial 1 10 \n 0 1 2 replace 1 11 9 = 9",
        "initial 1 10 \n 0 1 2 replace 1 11 9 = none",
        "initial 1 10 \n 0 1 2 replace 1 11 9 = 77",
        "initial 1 10 \n 0 1 2 remove-expected 1 9 = 10 \n 0 3 4 get 1 = none",
        "initial 1 10 \n 0 1 9 replace 1 11 10 = 10 \n 1 1 9 replace 1 12 10 = 10",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 0 9 = 2:20",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 0 9 = 2:20 1:10",
        "initial 1 10 \n 0 1 2 scan 0 9 = 1:10 1:10",
        "initial 1 10 \n 0 1 2 scan 2 9 = 1:10",
        "initial 1 10 \n 0 1 2 scan 0 9 = 1:11",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 9 0 = 2:20",
        "initial 1 10 \n initial 2 20 \n 0 1 2 scan 9 0 = 1:10 2:20",
        "initial 1 10 \n 0 1 2 scan 9 0 = 1:10 1:10",
        "initial 1 10 \n 0 1 2 scan 9 2 = 1:10",
        // Of lost changes: a key cannot be gone, one elsewhere loses nothing, all is lost once.
        "initial 1 10 \n lost 3 9 0 4 \n 0 10 11 get 1 = none",
        "initial 1 10 \n 0 1 2 put 1 5 = 10 \n lost 3 9 2 4 \n 0 10 11 get 1 = 10",
        // A change is not lost that had ended before.
        "initial 1 10 \n 0 1 2 put 1 5 = 10 \n lost 5 9 0 4 since 2 \n 0 10 11 get 1 = 10",
        """
        initial 1 10
        0 1 2 put 1 5 = 10
        lost 3 9 0 4
        0 5 6 get 1 = 10
        0 10 11 get 1 = 5
        """,
        "initial 1 10 \n lost 3 9 0 4 \n 0 10 11 put 1 5 = 10 \n 0 12 13 get 1 = 10",
      })
  void shouldRefuse(String text) {
    assertThat(HistoryCheck.violations(read(text))).hasSize(1);
  }

  /** Each alone would make the states of the key twice or three times as many. */
  @ParameterizedTest
  @ValueSource(strings = {"", "initial 1 10"})
  void shouldCheckManyUnknownRemovesAtOnce(String initial) {
    StringBuilder text = new StringBuilder(initial).append('\n');
    for (int i = 0; i < 15; i++) {
      text.append(i).append(" 1 unknown remove 1\n");
    }
    for (int i = 0; i < 100; i++) {
      text.append("20 ").append(2 + 2 * i).append(' ').append(3 + 2 * i).append(" get 1 = none\n");
    }
    assertThat(HistoryCheck.violations(read(text.toString()))).isEmpty();
    text.append("20 500 501 put 1 7 = none\n20 502 503 get 1 = none\n20 504 505 get 1 = 7");
    assertThat(HistoryCheck.violations(read(text.toString()))).hasSize(1);
  }

  @Test
  void shouldCheckTheOtherKeysWhereOneIsTooEntangled() {
    StringBuilder text = new StringBuilder("0 1 2 get 3 = 5\n");
    for (int i = 0; i < 65; i++) {
      text.append(i).append(" 1 9 put 2 ").append(i).append(" = none\n");
    }
    text.append("initial 1 10\n0 1 2 get 1 = none");
    assertThat(HistoryCheck.violations(read(text.toString())))
        .satisfiesExactly(
            one -> assertThat(one).startsWith("not linearizable: ").contains("key=1"),
            two -> assertThat(two).startsWith("key 2 could not be checked: too many operations"),
            three -> assertThat(three).startsWith("not linearizable: ").contains("key=3"));
  }

  @Test
  void shouldRefuseASecondInitialValue() {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> read("initial 1 10\ninitial 1 11"))
        .withMessageStartingWith("line 2: ");
  }

  @Test
  void shouldReadWhatItWrote() throws IOException {
    String text =
        """
        initial -5 0
        0 1 2 get -5 = 0
        1 2 4 put-if-absent 9223372036854775807 -1 = none
        2 3 unknown update 3 4
        3 5 6 remove 3 = none
        3 7 8 store 4 5
        3 9 10 discard 4
        4 3 unknown store 4 6
        5 3 unknown discard 4
        3 11 12 replace 4 7 6 = 6
        3 13 14 remove-expected 4 7 = none
        6 3 unknown replace 4 8 7
        7 3 unknown remove-expected 4 8
        4 7 8 scan -9 9 = -5:0 3:4
        4 7 8 scan 9 -9 = 3:4 -5:0
        lost 5 6 -9 9
        lost 7 8 0 9 since 3
        """;
    StringWriter written = new StringWriter();
    HistoryText.write(read(text), written);
    assertThat(written.toString().lines().filter(line -> !line.startsWith("#")))
        .containsExactlyElementsOf(text.lines().toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nonsense",
        "0 1 2 get",
        "0 1 2 get x = none",
        "0 2 1 get 1 = none",
        "0 1 2 get 1 none",
        "0 1 2 get 1 = none more",
        "0 1 2 steal 1 = none",
        "0 1 2 store 1 5 = none",
        "0 1 2 discard 1 = none",
        "0 1 2 replace 1 5 = 7",
        "0 1 2 scan 0 9 = 1",
        "0 1 2 scan 0 9 = 1:2:3",
        "initial 1",
        "99999999999 1 2 get 1 = none",
        "0 1 unknown get 1",
        "0 1 unknown scan 0 9 =",
        "lost 2 1 0 4",
        "lost 1 2 0",
        "lost 1 2 0 4 gone",
      })
  void shouldNameTheBrokenLine(String line) {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> read("# fine\n" + line))
        .withMessageStartingWith("line 2: ");
  }
}
