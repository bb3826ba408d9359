package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every {@link Membership} promises. */
@SuppressWarnings("exports") // JUnit's annotations.
@Timeout(60)
public abstract class MembershipContract {
  /** For subclasses. */
  protected MembershipContract() {}

  /** Opens a further session of the cluster. */
  protected abstract Membership connect();

  /** Ends a session as the coordinator does, when it heard nothing of it for too long. */
  protected abstract void expire(Membership session) throws Exception;

  /** Keeps sessions from reaching the coordinator. */
  protected abstract void disconnect(Membership session) throws Exception;

  /** Lets them reach it again, before any has ended. */
  protected abstract void reconnect(Membership session) throws Exception;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Optional<String> text(Membership session, String path) {
    return session.read(path).map(entry -> new String(entry.bytes(), StandardCharsets.UTF_8));
  }

  private static boolean commit(Membership session, Write... writes) {
    return session.commit(List.of(writes));
  }

  @Test
  void shouldKeepEntriesWithVersions() {
    try (Membership one = connect();
        Membership other = connect()) {
      assertThat(other.read("config")).isEmpty();
      assertThat(commit(one, new Write.Create("config", bytes("a")))).isTrue();
      assertThat(commit(one, new Write.Create("config", bytes("b")))).isFalse();
      assertThat(text(one, "config")).contains("a");
      assertThat(one.read("config").orElseThrow().version()).isZero();
      assertThat(commit(other, new Write.Set("config", 1, bytes("b")))).isFalse();
      assertThat(commit(other, new Write.Set("config", 0, bytes("b")))).isTrue();
      assertThat(text(other, "config")).contains("b");
      assertThat(other.read("config").orElseThrow().version()).isEqualTo(1);
      assertThat(commit(one, new Write.Delete("config", 0))).isFalse();
      assertThat(commit(one, new Write.Delete("config", 1))).isTrue();
      assertThat(one.read("config")).isEmpty();
      assertThat(commit(one, new Write.Set("config", 1, bytes("c")))).isFalse();
    }
  }

  @Test
  void shouldCommitAllOrNothing() {
    try (Membership session = connect()) {
      assertThat(commit(session, new Write.Create("leader-epoch", bytes("7")))).isTrue();
      assertThat(
              commit(
                  session,
                  new Write.Create("pool/1", bytes("x")),
                  new Write.Check("leader-epoch", 1)))
          .isFalse();
      assertThat(session.read("pool/1")).isEmpty();
      assertThat(
              commit(
                  session,
                  new Write.Create("pool/1", bytes("x")),
                  new Write.Check("leader-epoch", 0),
                  new Write.Set("leader-epoch", 0, bytes("8")),
                  new Write.Announce("members/memory/1", bytes("y"))))
          .isTrue();
      assertThat(text(session, "pool/1")).contains("x");
      assertThat(text(session, "leader-epoch")).contains("8");
      assertThat(text(session, "members/memory/1")).contains("y");
      assertThat(session.commit(List.of())).isTrue();
    }
  }

  @Test
  void shouldListWhatIsRightBelow() {
    try (Membership session = connect()) {
      assertThat(session.list("pool")).isEmpty();
      assertThat(
              commit(
                  session,
                  new Write.Create("pool/10", bytes("")),
                  new Write.Create("pool/2", bytes("")),
                  new Write.Create("members/compute/3", bytes(""))))
          .isTrue();
      assertThat(session.list("pool")).containsExactly("10", "2");
      assertThat(session.list("members/compute")).containsExactly("3");
      assertThat(session.list("members/memory")).isEmpty();
    }
  }

  @Test
  void shouldRefuseAnEntryThatIsTooLong() {
    try (Membership session = connect()) {
      byte[] most = new byte[Membership.ENTRY_BYTES_MAX];
      assertThat(commit(session, new Write.Create("routes", most))).isTrue();
      assertThat(session.read("routes").orElseThrow().bytes()).hasSize(most.length);
      assertThatThrownBy(
              () -> commit(session, new Write.Set("routes", 0, new byte[most.length + 1])))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("bytes=" + (most.length + 1));
    }
  }

  @Test
  void shouldForgetWhatASessionAnnouncedWhenItEnds() throws Exception {
    try (Membership stays = connect()) {
      try (Membership closes = connect()) {
        assertThat(commit(closes, new Write.Announce("leader", bytes("1")))).isTrue();
        assertThat(commit(stays, new Write.Announce("leader", bytes("2")))).isFalse();
      }
      assertThat(stays.read("leader")).isEmpty();
      Membership expires = connect();
      assertThat(
              commit(
                  expires,
                  new Write.Announce("leader", bytes("3")),
                  new Write.Create("pool/3", bytes("stays"))))
          .isTrue();
      expire(expires);
      awaitStatus(expires, Membership.Status.LOST);
      assertThatThrownBy(() -> expires.read("pool/3")).isInstanceOf(SessionLostException.class);
      assertThatThrownBy(() -> expires.list("pool")).isInstanceOf(SessionLostException.class);
      assertThatThrownBy(() -> commit(expires, new Write.Create("config", bytes(""))))
          .isInstanceOf(SessionLostException.class);
      expires.close();
      assertThat(stays.read("leader")).isEmpty();
      assertThat(text(stays, "pool/3")).contains("stays");
    }
  }

  @Test
  void shouldGoOnAfterAnInterruption() throws Exception {
    try (Membership session = connect()) {
      assertThat(commit(session, new Write.Announce("leader", bytes("1")))).isTrue();
      disconnect(session);
      awaitStatus(session, Membership.Status.SUSPENDED);
      assertThatThrownBy(() -> session.read("leader")).isInstanceOf(CoordinatorLostException.class);
      assertThatThrownBy(() -> commit(session, new Write.Create("config", bytes(""))))
          .isInstanceOf(CoordinatorLostException.class);
      reconnect(session);
      awaitStatus(session, Membership.Status.CONNECTED);
      assertThat(text(session, "leader")).contains("1");
    }
  }

  @Test
  void shouldTellOfChanges() throws Exception {
    try (Membership one = connect();
        Membership other = connect()) {
      for (int i = 0; i < 3; i++) {
        String path = "changes/" + i;
        CountDownLatch seen = new CountDownLatch(1);
        one.watch(() -> {
          if (one.status() == Membership.Status.CONNECTED) {
            seen.countDown();
          }
        });
        assertThat(commit(other, new Write.Create(path, bytes("x")))).isTrue();
        assertThat(seen.await(30, TimeUnit.SECONDS)).as(path).isTrue();
      }
    }
  }

  @Test
  void shouldLetOneOfManyWin() throws Exception {
    int many = 6;
    try (Membership first = connect();
        ExecutorService threads = Executors.newFixedThreadPool(many)) {
      assertThat(commit(first, new Write.Create("change-count", bytes("0")))).isTrue();
      AtomicInteger sum = new AtomicInteger();
      List<Future<?>> all =
          java.util.stream.IntStream.range(0, many)
              .<Future<?>>mapToObj(_ ->
                  threads.submit(() -> {
                    try (Membership session = connect()) {
                      for (int done = 0; done < 10; ) {
                        Entry entry = session.read("change-count").orElseThrow();
                        int next = entry.version() + 1;
                        if (commit(
                            session,
                            new Write.Set("change-count", entry.version(), bytes("" + next)),
                            new Write.Create("changes/" + next, bytes("")))) {
                          done++;
                          sum.incrementAndGet();
                        }
                      }
                    }
                  }))
              .toList();
      for (Future<?> thread : all) {
        thread.get(50, TimeUnit.SECONDS);
      }
      assertThat(sum.get()).isEqualTo(many * 10);
      assertThat(text(first, "change-count")).contains("" + many * 10);
      assertThat(first.list("changes")).hasSize(many * 10);
    }
  }

  /** What was read later is as new as what was read before, also of changes by another session. */
  @Test
  void shouldNeverGoBack() throws Exception {
    int last = 300;
    try (Membership writer = connect();
        Membership reader = connect();
        ExecutorService threads = Executors.newFixedThreadPool(3)) {
      assertThat(commit(writer, setOrCreate("config", 0), setOrCreate("routes", 0))).isTrue();
      List<Future<?>> reads = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        reads.add(
            threads.submit(() -> {
              // The writer changes both at once, or this one first.
              for (int seen = 0; seen < last; ) {
                seen = version(reader, "routes");
                assertThat(version(reader, "config")).isGreaterThanOrEqualTo(seen);
              }
            }));
      }
      Future<?> changes =
          threads.submit(() -> {
            for (int next = 1; next <= last; next++) {
              if (next % 2 == 0) {
                assertThat(commit(writer, setOrCreate("config", next), setOrCreate("routes", next)))
                    .isTrue();
              } else {
                assertThat(commit(writer, setOrCreate("config", next))).isTrue();
                assertThat(commit(writer, setOrCreate("routes", next))).isTrue();
              }
              assertThat(version(writer, "config")).isEqualTo(next);
              assertThat(version(writer, "routes")).isEqualTo(next);
            }
          });
      changes.get(50, TimeUnit.SECONDS);
      for (Future<?> read : reads) {
        read.get(50, TimeUnit.SECONDS);
      }
    }
  }

  /** Returns how to give an entry a version, which is the next one. */
  private static Write setOrCreate(String path, int version) {
    return version == 0
        ? new Write.Create(path, new byte[0])
        : new Write.Set(path, version - 1, new byte[0]);
  }

  private static int version(Membership session, String path) {
    return session.read(path).orElseThrow().version();
  }

  /** Waits until a session is as wanted. */
  protected static void awaitStatus(Membership session, Membership.Status wanted)
      throws InterruptedException {
    for (int i = 0; i < 3_000 && session.status() != wanted; i++) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    assertThat(session.status()).isEqualTo(wanted);
  }
}
