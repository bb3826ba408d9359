package pando.index.orca.directory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.index.Seeds;

class DirectoryPageTest {
  private static final int LEVEL = 3;
  private static final long LOW = -500;
  private static final long HIGH = Long.MAX_VALUE;
  private static final long STAMP = 0x1234_5678_9ABCL;
  private static final int PARTITION = -2;
  private static final long AT = 64;

  /** A byte is damaged in every so many of the ways that there are. */
  private static final int BITS_STEP = Seeds.count(11, 1);

  private final SplittableRandom random = new SplittableRandom(Seeds.of(2622));
  private final MemorySegment memory =
      Arena.ofAuto().allocate(AT + DirectoryPage.BYTES, DirectoryPage.ALIGNMENT);
  private final long[] separators = random.longs(60, LOW, HIGH).sorted().toArray();
  private final long[] pointers = random.longs(60).toArray();

  private void write(int count) {
    memory.fill((byte) -1);
    DirectoryPage.format(memory, AT, LEVEL, LOW, HIGH, STAMP, PARTITION);
    separators[0] = LOW;
    for (int child = 0; child < count; child++) {
      DirectoryPage.append(memory, AT, separators[child], pointers[child]);
    }
    DirectoryPage.seal(memory, AT);
  }

  private String problem() {
    String problem = DirectoryPage.problem(memory, AT, LEVEL, LOW, HIGH, PARTITION);
    return problem == null ? "" : problem;
  }

  private void damage(long position, int bits) {
    memory.set(JAVA_BYTE, position, (byte) (memory.get(JAVA_BYTE, position) ^ bits));
  }

  @ParameterizedTest(name = "count={0}")
  @ValueSource(ints = {1, 2, 59, 60})
  void shouldHoldChildren(int count) {
    write(count);
    assertThat(problem()).isEmpty();
    assertThat(DirectoryPage.level(memory, AT)).isEqualTo(LEVEL);
    assertThat(DirectoryPage.count(memory, AT)).isEqualTo(count);
    assertThat(DirectoryPage.low(memory, AT)).isEqualTo(LOW);
    assertThat(DirectoryPage.high(memory, AT)).isEqualTo(HIGH);
    assertThat(DirectoryPage.stamp(memory, AT)).isEqualTo(STAMP);
    assertThat(DirectoryPage.partition(memory, AT)).isEqualTo(PARTITION);
    for (int child = 0; child < count; child++) {
      assertThat(DirectoryPage.separator(memory, AT, child)).isEqualTo(separators[child]);
      assertThat(DirectoryPage.pointer(memory, AT, child)).isEqualTo(pointers[child]);
    }
    DirectoryPage.setPointer(memory, AT, count - 1, 77);
    assertThat(DirectoryPage.pointer(memory, AT, count - 1)).isEqualTo(77);
    assertThat(problem()).isEmpty();
    assertThat(memory.get(JAVA_BYTE, AT - 1)).isEqualTo((byte) -1);
  }

  @ParameterizedTest(name = "count={0}")
  @ValueSource(ints = {1, 40, 60})
  void shouldDetectADamagedByteOfAllButPointers(int count) {
    write(count);
    int pointers = DirectoryPage.pointerPosition(0);
    for (int position = 0; position < DirectoryPage.BYTES; position++) {
      for (int bits = 1; bits < 256; bits += BITS_STEP) {
        damage(AT + position, bits);
        assertThat(problem().isEmpty())
            .as("byte %d, bits %02x", position, bits)
            .isEqualTo(position >= pointers);
        damage(AT + position, bits);
      }
    }
  }

  /** Not found by the sum: bytes that were wrong when the page was sealed. */
  @Test
  void shouldDetectAPageThatIsWrongThoughItsSumIsRight() {
    write(40);
    for (int position = 0; position < DirectoryPage.pointerPosition(0); position++) {
      damage(AT + position, 0x80);
      DirectoryPage.seal(memory, AT);
      boolean stamp = position >= 24 && position < 32;
      boolean sum = position >= 40 && position < 48;
      boolean separator = position >= 64 + 8 && position < 64 + 40 * 8;
      if (!separator) {
        assertThat(problem().isEmpty()).as("byte %d", position).isEqualTo(stamp || sum);
      }
      damage(AT + position, 0x80);
    }
    write(0);
    assertThat(problem()).contains("count=0");
    write(1);
    DirectoryPage.append(memory, AT, LOW, 1);
    DirectoryPage.seal(memory, AT);
    assertThat(problem()).contains("separators do not ascend: child=1, separator=-500");
  }

  @Test
  void shouldTellAnotherPage() {
    write(5);
    assertThat(DirectoryPage.problem(memory, AT, LEVEL - 1, LOW, HIGH, PARTITION))
        .contains("level=3")
        .contains("expected: level=2");
    assertThat(DirectoryPage.problem(memory, AT, LEVEL, LOW + 1, HIGH, PARTITION)).isNotNull();
    assertThat(DirectoryPage.problem(memory, AT, LEVEL, LOW, HIGH - 1, PARTITION)).isNotNull();
    assertThat(DirectoryPage.problem(memory, AT, LEVEL, LOW, HIGH, PARTITION + 1)).isNotNull();
  }

  @Test
  void shouldTakeNoMoreChildrenThanItHasRoomFor() {
    write(60);
    assertThatThrownBy(() -> DirectoryPage.append(memory, AT, HIGH, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("count=60");
  }
}
