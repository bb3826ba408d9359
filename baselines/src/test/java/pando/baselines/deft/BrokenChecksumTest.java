package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.MemoryServerLostException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList.Kind;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;

/** A list that ends between the change of a node and its checksum leaves the node in use. */
@Tag("campaign")
@Timeout(300)
class BrokenChecksumTest {
  private static final long KEYS = 200;

  enum Change {
    UPDATE,
    INSERT,
    REMOVE,
    SPLIT
  }

  private static void make(Change change, Session session) {
    switch (change) {
      case UPDATE -> session.update(1, 7);
      case INSERT -> session.put(-1, 7);
      case REMOVE -> session.remove(1);
      case SPLIT -> {
        for (long key = KEYS; key < 2 * KEYS; key++) {
          session.put(key, key);
        }
      }
    }
  }

  /**
   * Of SPLIT, the entry above the new leaf is the first WRITE of 16 bytes; another follows it where
   * it is the greatest of its part, as here.
   */
  @ParameterizedTest
  @CsvSource({
    "UPDATE, 8,  on,  true",
    "UPDATE, 8,  on,  false",
    "UPDATE, 8,  off, true",
    "UPDATE, 8,  off, false",
    "INSERT, 16, on,  true",
    "REMOVE, 8,  on,  true",
    "SPLIT,  16, on,  true",
    "SPLIT,  16, on,  false",
  })
  void shouldKeepANodeInUseThatWasChangedInPart(
      Change change, int bytes, String sxLocks, boolean known) {
    DeftOptions options =
        DeftOptions.defaults()
            .withComputeServers(1)
            .with("node-bytes", "448")
            .with("validation", "checksum")
            .with("sx-locks", sxLocks);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 972));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      for (long key = 0; key < KEYS; key++) {
        session.put(key, key);
      }
      fabric.hookNext(
          verbs ->
              verbs.size() > 2
                  && verbs.kind(0) == Kind.WRITE
                  && verbs.length(0) == bytes
                  && verbs.kind(1) == Kind.WRITE,
          posting -> {
            posting.post(0, 1);
            throw known
                ? new IllegalStateException("broken")
                : new UnknownOutcomeException("broken");
          });
      assertThatThrownBy(() -> make(change, session)).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isEqualTo(1);
      for (long key = 0; key < KEYS; key++) {
        assertThat(other.put(key, key)).isEqualTo(key != 1 || change != Change.REMOVE);
      }
      assertThat(options.walk(fabric).problems()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "off"})
  void shouldKeepANodeLockedThatCannotBeMadeWhole(String sxLocks) {
    DeftOptions options =
        DeftOptions.defaults()
            .withComputeServers(1)
            .with("node-bytes", "448")
            .with("validation", "checksum")
            .with("lock-wait-millis", "20")
            .with("sx-locks", sxLocks);
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 973));
        DeftIndex index = DeftIndex.create(fabric, options);
        Session session = index.session();
        Session other = index.session()) {
      session.put(1, 1);
      fabric.hookNext(
          verbs -> verbs.size() > 2 && verbs.kind(0) == Kind.WRITE,
          posting -> {
            posting.post(0, 1);
            fabric.hookEach(
                verbs -> true,
                verbs -> {
                  throw new MemoryServerLostException("lost by a test");
                });
            throw new UnknownOutcomeException("broken");
          });
      assertThatThrownBy(() -> session.put(1, 2))
          .isInstanceOf(UnknownOutcomeException.class)
          .hasStackTraceContaining("keeps its nodes locked");
      fabric.unhook();
      assertThatThrownBy(() -> other.put(1, 3)).isInstanceOf(StalledException.class);
    }
  }
}
