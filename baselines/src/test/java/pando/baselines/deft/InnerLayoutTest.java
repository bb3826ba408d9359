package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.VerbList;
import pando.index.Seeds;

@Tag("campaign")
class InnerLayoutTest {
  private static final long MIN = Long.MIN_VALUE;
  private static final long MAX = Long.MAX_VALUE;

  /** Where keys lie between fences. */
  enum Spread {
    EVEN(MIN, MAX),
    NARROW(1_000, 3_000),
    SKEWED(MIN, MAX),
    AT_THE_LOW_END(MIN, MAX),
    AT_THE_HIGH_END(MIN, MAX),
    IN_THE_MIDDLE(MIN, MAX),
    IN_CLUSTERS(-1, MAX),
    FENCES_TOGETHER(0, 70);

    private final long low;
    private final long high;

    Spread(long low, long high) {
      this.low = low;
      this.high = high;
    }

    private long key(long draw) {
      return switch (this) {
        case EVEN -> draw;
        case NARROW -> 1_000 + Long.remainderUnsigned(draw, 2_000);
        case SKEWED -> MIN + (draw >>> (Long.numberOfTrailingZeros(draw | MIN) * 3 & 63));
        case AT_THE_LOW_END -> MIN + Long.remainderUnsigned(draw, 500);
        case AT_THE_HIGH_END -> MAX - Long.remainderUnsigned(draw, 500);
        case IN_THE_MIDDLE -> Long.remainderUnsigned(draw, 500);
        case IN_CLUSTERS -> ((draw & 7) << 60) + ((draw >>> 8) & 0xFF);
        case FENCES_TOGETHER -> Long.remainderUnsigned(draw, 71);
      };
    }

    private List<Long> keys(SplittableRandom random, int count) {
      TreeSet<Long> taken = new TreeSet<>(List.of(low));
      List<Long> keys = new ArrayList<>();
      while (keys.size() < count) {
        long drawn = key(random.nextLong());
        long at = Math.clamp(drawn, low, high);
        if (taken.add(at)) {
          keys.add(at);
        }
      }
      return keys;
    }
  }

  @ParameterizedTest
  @EnumSource(Spread.class)
  void shouldKnowEveryChildFromThePartOfItsKey(Spread spread) {
    SplittableRandom random = new SplittableRandom(Seeds.of(911));
    for (int nodeBytes : new int[] {448, 640, 832, 1024}) {
      for (int round = 0; round < 5; round++) {
        grow(spread, nodeBytes, true, random);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Spread.class)
  void shouldKnowEveryChildWithoutSegments(Spread spread) {
    SplittableRandom random = new SplittableRandom(Seeds.of(912));
    List<Integer> parts = grow(spread, 448, false, random);
    assertThat(parts).as("shapes after one that had no room").isEmpty();
  }

  /** Adds children until the node is full; returns into how many parts it was divided. */
  private static List<Integer> grow(
      Spread spread, int nodeBytes, boolean segmented, SplittableRandom random) {
    List<Integer> parts = new ArrayList<>();
    try (InnerKit kit = new InnerKit(nodeBytes, segmented, spread.low, spread.high)) {
      for (long key : spread.keys(random, kit.layout.capacity())) {
        if (kit.add(key)) {
          continue;
        }
        if (kit.model.size() == kit.layout.capacity()) {
          assertThat(kit.add(key)).as("full").isFalse();
          break;
        }
        kit.arrange();
        parts.add(DeftShape.parts(kit.shape()));
        if (!kit.add(key)) {
          // Its part has no room in the shape that suits the others: as a split of a child does.
          kit.model.put(key, ChildPointer.toLeaf(1 << 20));
          kit.arrange();
          parts.add(DeftShape.parts(kit.shape()));
        }
        List<Long> known = new ArrayList<>(kit.model.keySet());
        kit.replace(known.get(random.nextInt(known.size())));
        kit.replace(spread.low);
      }
      assertThat(kit.model).as("no child was refused before").hasSize(kit.layout.capacity());
      assertThat(DeftShape.parts(kit.shape())).isLessThanOrEqualTo(DeftShape.QUARTERS);
      kit.replace(kit.model.lastKey());
    }
    return parts;
  }

  @Test
  void shouldGoFromQuartersByHalvesToAWholeBeforeItIsFull() {
    SplittableRandom random = new SplittableRandom(Seeds.of(913));
    for (int round = 0; round < 20; round++) {
      try (InnerKit kit = new InnerKit(1024, true, MIN, MAX)) {
        List<Integer> parts = new ArrayList<>(List.of(DeftShape.parts(kit.shape())));
        for (long key : Spread.EVEN.keys(random, kit.layout.capacity() - 1)) {
          if (!kit.add(key)) {
            kit.model.put(key, ChildPointer.toLeaf(1 << 20));
            kit.arrange();
            parts.add(DeftShape.parts(kit.shape()));
          }
        }
        assertThat(parts.getFirst()).isEqualTo(4);
        assertThat(parts).contains(2);
        assertThat(parts.getLast()).isLessThanOrEqualTo(2);
        for (int i = 1; i < parts.size(); i++) {
          assertThat(parts.get(i)).isLessThanOrEqualTo(parts.get(i - 1));
        }
        assertThat(kit.add(kit.model.firstEntry().getKey() + 1)).isFalse();
      }
    }
  }

  /** Keys beside the low fence are divided as finely as they lie, however wide the node is. */
  @ParameterizedTest
  @ValueSource(longs = {1, 3, 1000, 1L << 40, 1L << 55})
  void shouldDivideKeysByHowTheyLie(long step) {
    try (InnerKit kit = new InnerKit(1024, true, MIN, MAX)) {
      for (long i = 1; i <= 30; i++) {
        kit.model.put(MIN + i * step, ChildPointer.toLeaf((1 << 20) + i * 64));
      }
      kit.arrange();
      assertThat(DeftShape.parts(kit.shape())).isEqualTo(4);
    }
  }

  /** Parts without a key know the greatest child before them, also after one is added there. */
  @Test
  void shouldRepeatTheGreatestChildInPartsWithoutOne() {
    for (int part = 0; part < 4; part++) {
      try (InnerKit kit = new InnerKit(1024, true, 0, 4_000)) {
        // Forty in one quarter would be halves; ten of each alternate one are quarters.
        for (long i = 0; i < 10; i++) {
          kit.model.put(1 + i, ChildPointer.toLeaf((1 << 20) + i * 64));
          kit.model.put(3_500 + i, ChildPointer.toLeaf((2 << 20) + i * 64));
        }
        kit.arrange();
        assertThat(DeftShape.parts(kit.shape())).isEqualTo(4);
        long low = DeftShape.lowOfPart(kit.shape(), 0, part);
        assertThat(kit.add(low + 600)).isTrue();
        assertThat(kit.add(low + 700)).isTrue();
        assertThat(kit.add(low + 500)).isTrue();
        kit.replace(low + 700);
        kit.replace(10);
        kit.replace(0);
      }
    }
  }

  @ParameterizedTest(name = "{0} B, {1} parts")
  @CsvSource({
    "1024, 1, 1024", "1024, 2, 496", "1024, 4, 256",
    "832,  1, 832", "832,  2, 400", "832,  4, 208",
    "640,  1, 640", "640,  2, 304", "640,  4, 160",
    "448,  1, 448", "448,  2, 208", "448,  4, 112",
  })
  void shouldReadAPartWithTheEntryBeforeIt(int nodeBytes, int parts, int bytes) {
    InnerLayout layout = new InnerLayout(nodeBytes, true);
    int end = 0;
    for (int part = 0; part < parts; part++) {
      VerbList list = new VerbList();
      layout.addRead(list, DeftShape.of(parts, 3), part, InnerKit.ADDRESS, 4096);
      assertThat(list.size()).isEqualTo(1);
      assertThat(list.length(0)).isEqualTo(bytes);
      long at = list.local(0) - 4096;
      assertThat(list.remote(0) - InnerKit.ADDRESS).isEqualTo(at);
      if (parts > 1) {
        assertThat(at).isEqualTo(part == 0 ? 48 : end - 16);
      }
      end = (int) at + bytes;
    }
    assertThat(end).as("the last part ends the node").isEqualTo(nodeBytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 64, 256, 512, 1_000, 1_025, 1_216, 2_048})
  void shouldRefuseOtherSizes(int nodeBytes) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new InnerLayout(nodeBytes, true))
        .withMessageContaining("nodeBytes=" + nodeBytes);
  }

  @Test
  void shouldHaveAnotherVersionAfterEachOfAllVersions() {
    try (InnerKit kit = new InnerKit(448, true, 0, 100)) {
      TreeSet<Integer> seen = new TreeSet<>();
      for (int i = 0; i <= ChildPointer.VERSION_MASK; i++) {
        kit.arrange();
        assertThat(seen.add(kit.version())).isTrue();
      }
      assertThat(seen).hasSize(64);
    }
  }
}
