package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import pando.fabric.GlobalAddress;
import pando.fabric.memory.Words;
import pando.index.Seeds;

/** The words of slots, headers, leaves and paths. */
class SmartLayoutTest {
  private static final int ROUNDS = 10_000;

  private final SplittableRandom random = new SplittableRandom(Seeds.of(931));
  private final MemorySegment memory = Arena.ofAuto().allocate(NodeLayout.BYTES_MAX, 8);

  @Test
  void shouldHavePathsInTheOrderOfKeys() {
    long[] keys = random.longs(1_000).toArray();
    keys[0] = Long.MIN_VALUE;
    keys[1] = -1;
    keys[2] = 0;
    keys[3] = Long.MAX_VALUE;
    Arrays.sort(keys);
    for (int i = 1; i < keys.length; i++) {
      long before = KeyPath.of(keys[i - 1]);
      long path = KeyPath.of(keys[i]);
      assertThat(Long.compareUnsigned(before, path)).isNegative();
      assertThat(KeyPath.key(path)).isEqualTo(keys[i]);
      int depth = KeyPath.common(before, path);
      assertThat(KeyPath.byteAt(before, depth)).isLessThan(KeyPath.byteAt(path, depth));
      assertThat(KeyPath.prefix(before, depth)).isEqualTo(KeyPath.prefix(path, depth));
      assertThat(KeyPath.startsWith(path, KeyPath.prefix(before, depth), depth)).isTrue();
      assertThat(KeyPath.startsWith(path, KeyPath.prefix(before, depth + 1), depth + 1)).isFalse();
    }
  }

  @Test
  void shouldBuildAPathOfItsBytes() {
    for (long path : LongStream.of(0, -1, random.nextLong()).toArray()) {
      long built = 0;
      for (int depth = 0; depth < KeyPath.BYTES; depth++) {
        built = KeyPath.child(built, depth, KeyPath.byteAt(path, depth));
        assertThat(built).isEqualTo(KeyPath.prefix(path, depth + 1));
        assertThat(KeyPath.greatest(built, depth + 1) | path)
            .isEqualTo(KeyPath.greatest(built, depth + 1));
      }
      assertThat(built).isEqualTo(path);
      assertThat(KeyPath.common(path, path)).isEqualTo(KeyPath.BYTES);
    }
  }

  @Test
  void shouldKeepWhatIsPutIntoASlot() {
    for (int i = 0; i < ROUNDS; i++) {
      int firstByte = random.nextInt(256);
      int other = random.nextInt(256);
      int type = random.nextInt(NodeLayout.FULL + 1);
      int server = random.nextInt(Slot.SERVERS_MAX);
      long address = GlobalAddress.of(server, random.nextLong(Slot.SERVER_BYTES_MAX) & -64L);
      long slot = Slot.node(firstByte, type, address);
      checkSlot(slot, firstByte, Slot.NODE, type, address);
      checkSlot(Slot.withByte(slot | Slot.FROZEN, other), other, Slot.NODE, type, address);
      checkSlot(Slot.withType(slot, 5), firstByte, Slot.NODE, 5, address);
      checkSlot(Slot.leaf(firstByte, address), firstByte, Slot.LEAF, 0, address);
      assertThat(Slot.isFrozen(slot | Slot.FROZEN)).isTrue();
      assertThat(Slot.thawed(slot | Slot.FROZEN)).isEqualTo(slot);
      long empty = Slot.empty(firstByte, random.nextLong());
      assertThat(Slot.kind(empty)).isEqualTo(Slot.EMPTY);
      assertThat(Slot.byteOf(empty)).isEqualTo(firstByte);
      assertThat(Slot.isFrozen(empty)).isFalse();
      assertThat(Slot.hasChild(empty)).isFalse();
    }
    assertThat(Slot.kind(Slot.NEVER)).isEqualTo(Slot.UNUSED);
    assertThat(Slot.kind(Slot.NEVER | Slot.FROZEN)).isEqualTo(Slot.UNUSED);
  }

  private static void checkSlot(long slot, int firstByte, int kind, int type, long address) {
    assertThat(Slot.byteOf(slot)).isEqualTo(firstByte);
    assertThat(Slot.kind(slot)).isEqualTo(kind);
    assertThat(Slot.type(slot)).isEqualTo(type);
    assertThat(Slot.address(slot)).isEqualTo(address);
    assertThat(Slot.hasChild(slot)).isTrue();
    assertThat(Slot.isFrozen(slot)).isFalse();
  }

  @Test
  void shouldKeepWhatIsPutIntoAHeader() {
    for (int i = 0; i < ROUNDS; i++) {
      int type = random.nextInt(NodeLayout.FULL + 1);
      int depth = random.nextInt(KeyPath.BYTES);
      long prefix = KeyPath.prefix(random.nextLong(), depth);
      long header = NodeLayout.header(type, NodeLayout.UNBORN, depth, prefix);
      checkHeader(header, type, NodeLayout.UNBORN, depth, prefix);
      long sealed = NodeLayout.withLife(header, NodeLayout.SEALED);
      checkHeader(sealed, type, NodeLayout.SEALED, depth, prefix);
      checkHeader(NodeLayout.withType(sealed, 6), 6, NodeLayout.SEALED, depth, prefix);
    }
    assertThat(NodeLayout.isLegal(NodeLayout.header(0, 0, 1, 0x0101L << 48))).isFalse();
    assertThat(NodeLayout.isLegal(NodeLayout.header(7, 0, 0, 0))).isFalse();
  }

  private static void checkHeader(long header, int type, int life, int depth, long prefix) {
    assertThat(NodeLayout.type(header)).isEqualTo(type);
    assertThat(NodeLayout.life(header)).isEqualTo(life);
    assertThat(NodeLayout.depth(header)).isEqualTo(depth);
    assertThat(NodeLayout.prefix(header)).isEqualTo(prefix);
    assertThat(NodeLayout.isLegal(header)).isTrue();
  }

  @Test
  void shouldHaveATypeForEachNumberOfSlots() {
    for (int slots = 0; slots <= 256; slots++) {
      int type = NodeLayout.typeFor(slots);
      assertThat(NodeLayout.capacity(type)).isGreaterThanOrEqualTo(slots);
      assertThat(type == 0 || NodeLayout.capacity(type - 1) < slots).isTrue();
      assertThat(Reserve.STEPS.placeBytes(type)).isGreaterThanOrEqualTo(NodeLayout.bytes(type));
      assertThat(Reserve.WHOLE.placeBytes(type)).isGreaterThanOrEqualTo(NodeLayout.BYTES_MAX);
    }
    assertThat(NodeLayout.bytes(0)).isEqualTo(64);
    assertThat(Reserve.STEPS.placeBytes(NodeLayout.typeFor(22))).isEqualTo(192);
  }

  @Test
  void shouldDetectALeafOfTwoWritings() {
    for (int i = 0; i < ROUNDS; i++) {
      // Keys and values that differ, and counters that always do.
      LeafLayout.set(memory, 0, i, random.nextInt(3), LeafLayout.state(0, LeafLayout.LIVE, i));
      LeafLayout.set(memory, 64, -i - 1, random.nextInt(3) + 3, LeafLayout.state(7, 1, i + 1));
      assertThat(LeafLayout.isWhole(memory, 0)).isTrue();
      int mixed = random.nextInt(1, 15);
      for (int word = 0; word < 4; word++) {
        if ((mixed >>> word & 1) != 0) {
          Words.set(memory, word * 8L, Words.get(memory, 64 + word * 8L));
        }
      }
      assertThat(LeafLayout.isWhole(memory, 0)).as("words %d", mixed).isFalse();
    }
  }

  @Test
  void shouldNotCheckOwnerAndLife() {
    LeafLayout.set(memory, 0, 5, 6, LeafLayout.state(77, LeafLayout.UNBORN, -1));
    long state = LeafLayout.state(memory, 0);
    assertThat(LeafLayout.owner(state)).isEqualTo(77);
    assertThat(LeafLayout.life(state)).isEqualTo(LeafLayout.UNBORN);
    Words.set(memory, LeafLayout.STATE, LeafLayout.with(state, 0, LeafLayout.LIVE));
    assertThat(LeafLayout.isWhole(memory, 0)).isTrue();
    assertThat(LeafLayout.isLive(memory, 0)).isTrue();
    int owner = LeafLayout.owner(63, SmartOptions.SESSIONS_MAX);
    assertThat(LeafLayout.serverOf(owner)).isEqualTo(63);
    assertThat(LeafLayout.sessionOf(owner)).isEqualTo(SmartOptions.SESSIONS_MAX);
    assertThat(LeafLayout.owner(LeafLayout.state(owner, LeafLayout.DEAD, 0))).isEqualTo(owner);
  }
}
