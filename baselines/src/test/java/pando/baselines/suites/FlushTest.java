package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.index.Configuration;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;

/** What is written where something cannot be. */
@Timeout(60)
class FlushTest {
  private static final int KEYS = 6;

  private static boolean isOfANode(VerbList verbs) {
    return verbs.size() > 0 && verbs.kind(0) == Kind.WRITE && verbs.length(0) > Long.BYTES;
  }

  private static void fail(HookedFabric.Posting unanswered) {
    throw new UnknownOutcomeException("not answered by a test");
  }

  @ParameterizedTest
  @ValueSource(strings = {"orca", "dex"})
  void shouldWriteWhatOtherComputeServersHaveWhereOneCannot(String system) {
    Configuration tiny = SystemUnderTest.of(system).tiny(2).with("write-back-interval", "0");
    if (system.equals("dex")) {
      // Else leaves are changed in the pool.
      tiny = tiny.with("offloading", "off").with("admission", "1");
    }
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 8 << 20, 874)).withTasksByHand();
        RangeIndex index = tiny.options().create(fabric, 0, 2)) {
      long ofTheLast;
      try (Session session = index.session()) {
        for (long key = 0; key < KEYS; key++) {
          session.put(key, key);
        }
        ofTheLast = index.unwritten().bytes();
        session.put(-2, 1);
      }
      long ofTheFirst = index.unwritten().bytes() - ofTheLast;
      assertThat(ofTheFirst).isPositive();
      assertThat(ofTheLast).isPositive();
      fabric.hookNext(FlushTest::isOfANode, FlushTest::fail);
      assertThatThrownBy(index::flush).isInstanceOf(UnknownOutcomeException.class);
      assertThat(fabric.unhook()).isOne();
      assertThat(index.unwritten().bytes()).isEqualTo(ofTheFirst);
      index.flush();
      assertThat(index.unwritten().bytes()).isZero();
    }
  }
}
