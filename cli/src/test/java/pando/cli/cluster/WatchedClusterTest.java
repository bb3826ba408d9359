package pando.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import pando.cluster.ClusterState;
import pando.cluster.CoordinatorLostException;
import pando.cluster.MemoryCoordinator;
import pando.cluster.MemoryMembership;
import pando.cluster.PoolEntry;
import pando.cluster.ServerState;

final class WatchedClusterTest {
  private static final String HOSTILE = "</script><img src=x onerror=alert(1)>\n\n\"";

  private final List<String> lines = new ArrayList<>();
  private final MemoryCoordinator coordinator = new MemoryCoordinator(Duration.ofSeconds(5));

  @Test
  void shouldSayThatNothingAnswersAndGoOnOnceItDoes() {
    boolean[] answers = new boolean[1];
    try (WatchedCluster cluster =
        new WatchedCluster(
            () -> {
              if (!answers[0]) {
                throw new CoordinatorLostException("no answer");
              }
              return coordinator.connect();
            },
            lines::add)) {
      cluster.look();
      assertThat(cluster.json()).startsWith("{").contains("\"computeServers\":[]").endsWith("}");
      assertThat(cluster.hindrances())
          .singleElement()
          .asString()
          .startsWith("the coordinator does not answer: no answer");
      answers[0] = true;
      cluster.look();
      assertThat(cluster.hindrances()).containsExactly("no compute server has made the index yet");
    }
  }

  @Test
  void shouldSayOnceThatNothingAnswers() {
    int[] waited = new int[1];
    try (WatchedCluster cluster =
        new WatchedCluster(
            () -> {
              throw new CoordinatorLostException("no answer: waitedNanos=" + waited[0]++);
            },
            lines::add)) {
      cluster.look();
      cluster.look();
      assertThat(lines).containsExactly("not ready: the coordinator does not answer");
    }
  }

  @Test
  void shouldOpenAnotherSessionWhereOneHasEnded() {
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      cluster.look();
      coordinator.advance(Duration.ofSeconds(60));
      announce(ServerState.SERVING, "127.0.0.1:1");
      cluster.look();
      cluster.look();
      assertThat(cluster.json()).contains("\"address\":\"127.0.0.1:1\"");
    }
  }

  @Test
  void shouldKeepALossThatItHasSeen() {
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      announce(ServerState.SERVING, "127.0.0.1:1").close();
      cluster.look();
      assertThat(cluster.json()).contains("\"happenings\":[]");
      announce(ServerState.LOST, "127.0.0.1:1");
      cluster.look();
      String loss = "\"loss\":true,\"text\":\"memory server 0 was lost, with all that it held\"";
      assertThat(cluster.json()).contains(loss);
      assertThat(cluster.hindrances()).contains("memory server 0 is lost");
      cluster.look();
      assertThat(cluster.json().split("memory server 0 was lost", -1)).as("said once").hasSize(2);
      assertThat(lines)
          .containsExactly(
              "not ready: no compute server has made the index yet",
              "memory server 0 was lost, with all that it held",
              "not ready: no compute server has made the index yet; memory server 0 is lost");
    }
  }

  @Test
  void shouldNotSayWhatWasLostBefore() {
    announce(ServerState.LOST, "127.0.0.1:1");
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      cluster.look();
      assertThat(cluster.json()).contains("\"state\":\"LOST\"", "\"happenings\":[]");
    }
  }

  @Test
  void shouldWriteHostileNamesInOneLine() {
    announce(ServerState.SERVING, HOSTILE);
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      cluster.happened(HOSTILE);
      cluster.look();
      assertThat(cluster.json())
          .contains("</script><img src=x onerror=alert(1)>\\n\\n\\\"\"")
          .doesNotContain("\n", "\r");
    }
  }

  @Test
  void shouldKeepTheLastTwentyHappenings() {
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      for (int i = 0; i < 100; i++) {
        cluster.happened("happening " + i + ".");
      }
      cluster.look();
      String json = cluster.json();
      assertThat(List.of(json.split("happening ", -1))).hasSize(21);
      assertThat(json).contains("happening 80.", "happening 99.").doesNotContain("happening 79.");
    }
  }

  @Test
  void shouldKeepALossBeforeWhatElseHappens() {
    try (WatchedCluster cluster = new WatchedCluster(coordinator::connect, lines::add)) {
      announce(ServerState.SERVING, "127.0.0.1:1").close();
      cluster.look();
      announce(ServerState.LOST, "127.0.0.1:1");
      cluster.look();
      for (int i = 0; i < 100; i++) {
        cluster.happened("happening " + i);
      }
      assertThat(cluster.json()).contains("memory server 0 was lost", "happening 99");
    }
  }

  private MemoryMembership announce(ServerState state, String address) {
    MemoryMembership session = coordinator.connect();
    PoolEntry entry = new PoolEntry(0, 1, address, 64 << 20, false, state);
    assertThat(new ClusterState(session).announceMemory(entry)).isTrue();
    return session;
  }
}
