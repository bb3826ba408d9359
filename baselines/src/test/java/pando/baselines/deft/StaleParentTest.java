package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Session;

/** A pointer that cannot be made to say what has become of its node. */
@Tag("campaign")
@Timeout(300)
class StaleParentTest {
  private static final int NODE_BYTES = 448;
  private static final DeftOptions OPTIONS =
      DeftOptions.defaults()
          .withComputeServers(1)
          .with("node-bytes", Integer.toString(NODE_BYTES))
          .with("cache-bytes", "64KiB");

  @Test
  void shouldTellWhereAPointerCannotBeRefreshed() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(1, 8 << 20, 974));
        DeftPokes pokes = new DeftPokes(fabric, OPTIONS);
        DeftIndex index = DeftIndex.create(fabric, OPTIONS);
        Session session = index.session()) {
      long key = 0;
      while (pokes.path(0).length < 3) {
        session.put(key, key++);
      }
      // The root is hidden as soon as a node below it was written anew, whose pointer it has.
      long root = pokes.path(0)[2];
      fabric.hookNext(
          verbs -> writesInner(verbs, pokes),
          write -> {
            write.post();
            hide(pokes, root);
          });
      Throwable failure = null;
      while (failure == null) {
        long next = key++;
        failure = catchThrowable(() -> session.put(next, next));
      }
      assertThat(fabric.unhook()).isOne();
      assertThat(failure)
          .isInstanceOf(UnknownOutcomeException.class)
          .hasStackTraceContaining("no parent of a changed node could be locked");
    }
  }

  /** Tells whether a list writes a whole inner node alone, and unlocks it. */
  private static boolean writesInner(VerbList verbs, DeftPokes pokes) {
    return verbs.size() == 2
        && verbs.kind(0) == Kind.WRITE
        && verbs.length(0) == NODE_BYTES
        && verbs.kind(1) == Kind.MASKED_FAA
        && !pokes.isLeaf(verbs.remote(0));
  }

  private static void hide(DeftPokes pokes, long node) {
    byte[] bytes = pokes.peek(node);
    bytes[3] |= (byte) 0x80;
    pokes.poke(node, bytes, false);
  }
}
