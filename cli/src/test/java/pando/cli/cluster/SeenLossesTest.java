package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import pando.client.Routes;
import pando.cluster.Change;
import pando.cluster.Member;
import pando.cluster.Rebuild;
import pando.cluster.ServerState;
import pando.index.BoundKey;
import pando.index.Unwritten;

final class SeenLossesTest {
  private static final Routes ROUTES =
      new Routes(1, true, List.of(new Routes.Route(Long.MIN_VALUE, 1, "a:1")));
  private static final String LOSS =
      "compute server 1 ended; what it had not written is lost, about %s if it was killed";

  private final SeenLosses losses = new SeenLosses();

  @Test
  void shouldCountEachLossOfANumber() {
    Change first = fence(5);
    Change second = fence(9);
    assertThat(look(member(1, 1024))).isEmpty();
    assertThat(lookAt(List.of(first))).containsExactly(LOSS.formatted("1.0 KiB"));
    assertThat(look(member(2, 2048), first)).isEmpty();
    assertThat(look(member(2, 4096), first)).isEmpty();
    assertThat(lookAt(List.of(first, second))).containsExactly(LOSS.formatted("4.0 KiB"));
    assertThat(lookAt(List.of(first, second))).isEmpty();
  }

  @Test
  void shouldCountAStartThatIsFasterThanAFence() {
    assertThat(look(member(1, 1024))).isEmpty();
    assertThat(lookAt(List.of(fence(5)))).hasSize(1);
    assertThat(look(member(2, 2048), fence(5))).isEmpty();
    assertThat(look(member(3, 0), fence(5))).containsExactly(LOSS.formatted("2.0 KiB"));
    assertThat(look(member(3, 0), fence(5))).isEmpty();
  }

  @Test
  void shouldNotCountWhatWasLostBefore() {
    assertThat(lookAt(List.of(fence(5)))).isEmpty();
    assertThat(lookAt(List.of(fence(5)))).isEmpty();
  }

  private List<String> look(Member member, Change... changes) {
    return losses.look(report(List.of(member), List.of(changes)));
  }

  /** Looks while no compute server runs. */
  private List<String> lookAt(List<Change> changes) {
    return losses.look(report(List.of(), changes));
  }

  private static ClusterReport report(List<Member> servers, List<Change> changes) {
    return new ClusterReport(
        Optional.empty(),
        Rebuild.NONE,
        Optional.empty(),
        List.of(),
        servers,
        Optional.of(ROUTES),
        changes);
  }

  private static Member member(long epoch, long unwritten) {
    return new Member(
        1, epoch, "a:1", 7, "host", ServerState.SERVING, 10, new Unwritten(unwritten, 1));
  }

  private static Change fence(int id) {
    return new Change(
        id, Change.Kind.FENCE, Change.State.DONE, 1, BoundKey.of(0), 0, -1, -1, 0, 1, 0, "");
  }
}
