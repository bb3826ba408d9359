package pando.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static pando.cli.Rests.Giving.ALL;
import static pando.cli.Rests.Giving.NOTHING;
import static pando.cli.Rests.Giving.ROOM;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RestsTest {
  private final Rests rests = new Rests();
  private long served;

  private Rests.Giving serve(int more) {
    served += more;
    return rests.look(served);
  }

  @Test
  void shouldGiveAllBackOnceBehindRequests() {
    for (int i = 0; i < 3; i++) {
      assertThat(serve(Rests.REQUESTS)).isEqualTo(NOTHING);
      assertThat(serve(Rests.REQUESTS - 1)).isEqualTo(NOTHING);
      assertThat(serve(0)).isEqualTo(ALL);
      IntStream.range(0, 100).forEach(_ -> assertThat(serve(0)).isEqualTo(NOTHING));
    }
  }

  @Test
  void shouldGiveRoomBackOnceNothingIsAsked() {
    assertThat(serve(0)).isEqualTo(NOTHING);
    assertThat(serve(0)).isEqualTo(ALL);
    assertThat(serve(1)).isEqualTo(NOTHING);
    assertThat(serve(0)).isEqualTo(ROOM);
    assertThat(serve(0)).isEqualTo(NOTHING);
  }

  @Test
  void shouldGiveAllBackAgainWhereThatHasFailed() {
    assertThat(serve(0)).isEqualTo(NOTHING);
    assertThat(serve(0)).isEqualTo(ALL);
    rests.repeat();
    assertThat(serve(0)).isEqualTo(ALL);
    assertThat(serve(0)).isEqualTo(NOTHING);
  }

  @Test
  void shouldGiveRoomBackOnceAMinuteBesideATrickle() {
    for (int rest = 1; rest <= 5 * Rests.OF_A_MINUTE; rest++) {
      assertThat(serve(1))
          .as("rest=%s", rest)
          .isEqualTo(rest == Rests.FIRST ? ALL : rest % Rests.OF_A_MINUTE == 0 ? ROOM : NOTHING);
    }
    assertThat(serve(Rests.REQUESTS)).isEqualTo(NOTHING);
  }
}
