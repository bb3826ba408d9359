package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("campaign")
class SxWordTest {
  private static final int TICKETS = 1 << 16;

  private static long word(int xCurrent, int xTicket, int sCurrent, int sTicket) {
    return field(xCurrent, 48) | field(xTicket, 32) | field(sCurrent, 16) | field(sTicket, 0);
  }

  private static long field(int value, int shift) {
    return (value & 0xFFFFL) << shift;
  }

  @ParameterizedTest
  @CsvSource({
    // xCurrent, xTicket, sCurrent, sTicket, idle, free for shared, free for upgrade
    "0,     0,     0,     0,     true,  true,  false",
    "0,     0,     0,     1,     false, true,  true",
    "0,     0,     0,     2,     false, true,  false",
    "0,     1,     0,     0,     false, false, false",
    "0,     1,     0,     1,     false, false, false",
    "7,     7,     3,     3,     true,  true,  false",
    "65535, 65535, 65535, 65535, true,  true,  false",
    "65535, 65535, 65535, 0,     false, true,  true",
    "65535, 0,     65535, 65535, false, false, false",
    "65535, 0,     65535, 0,     false, false, false",
    "0,     0,     65535, 1,     false, true,  false",
  })
  void shouldTellWhatIsFree(
      int xCurrent,
      int xTicket,
      int sCurrent,
      int sTicket,
      boolean idle,
      boolean shared,
      boolean upgrade) {
    long word = word(xCurrent, xTicket, sCurrent, sTicket);
    assertThat(SxWord.isIdle(word)).isEqualTo(idle);
    assertThat(SxWord.isFreeForShared(word)).isEqualTo(shared);
    assertThat(SxWord.isFreeForUpgrade(word)).isEqualTo(upgrade);
  }

  @Test
  void shouldReadEachField() {
    long word = word(0x8001, 0xFFFE, 0x7FFF, 0x1234);
    assertThat(SxWord.xCurrent(word)).isEqualTo(0x8001);
    assertThat(SxWord.xTicket(word)).isEqualTo(0xFFFE);
    assertThat(SxWord.sCurrent(word)).isEqualTo(0x7FFF);
    assertThat(SxWord.sTicket(word)).isEqualTo(0x1234);
    assertThat(SxWord.toString(word))
        .isEqualTo("X_CUR=32769, X_TIC=65534, S_CUR=32767, S_TIC=4660");
  }

  @Test
  void shouldCountEachFieldRoundWithoutACarry() {
    for (int i = 0; i < TICKETS; i++) {
      long word = word(i, i + 1, i + 2, i + 3);
      assertThat(SxWord.add(word, SxWord.TAKE_SHARED)).isEqualTo(word(i, i + 1, i + 2, i + 4));
      assertThat(SxWord.add(word, SxWord.LEAVE_SHARED)).isEqualTo(word(i, i + 1, i + 3, i + 3));
      assertThat(SxWord.add(word, SxWord.TAKE_EXCLUSIVE)).isEqualTo(word(i, i + 2, i + 2, i + 3));
      assertThat(SxWord.add(word, SxWord.LEAVE_EXCLUSIVE))
          .isEqualTo(word(i + 1, i + 1, i + 2, i + 3));
      assertThat(SxWord.add(word, SxWord.UPGRADE)).isEqualTo(word(i, i + 2, i + 3, i + 3));
    }
  }

  /** Whatever the ticket and whatever the field: it enters at one value and at no other. */
  @Test
  void shouldLetATicketInAtItsTurnAlone() {
    int[] tickets = {0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF};
    for (int ticket : tickets) {
      for (int current = 0; current < TICKETS; current++) {
        boolean turn = current == ticket;
        int other = current ^ 0x5A5A;
        assertThat(SxWord.mayEnterShared(word(current, other, other, other), ticket))
            .isEqualTo(turn);
        assertThat(SxWord.mayEnterExclusive(word(current, other, 9, other), ticket, 9))
            .isEqualTo(turn);
        assertThat(SxWord.mayEnterExclusive(word(9, other, current, other), 9, ticket))
            .isEqualTo(turn);
        assertThat(SxWord.ahead(word(current, other, other, other), ticket))
            .isEqualTo((ticket - current + TICKETS) % TICKETS);
      }
    }
  }
}
