package pando.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.client.Routes;
import pando.index.BoundKey;
import pando.index.Partitioning;
import pando.index.Unwritten;
import pando.index.bytes.ByteIndex;

/** Records as bytes, and bytes that are no records. */
class EntriesTest {
  /** A record, its bytes, and how they are read. */
  record Example(Object value, Supplier<byte[]> encode, Function<byte[], Object> decode) {
    byte[] bytes() {
      return encode.get();
    }

    @Override
    public String toString() {
      return value.getClass().getSimpleName();
    }
  }

  private static final Config CONFIG =
      new Config("dex", Map.of("node-bytes", "512", "merge-share", "0.2"), 3, 1_000);
  private static final Rebuild REBUILD = Rebuild.from(1, 3);
  private static final Rebuild AWAITED = Rebuild.awaited("a folder is damaged");
  private static final PoolEntry POOL =
      new PoolEntry(63, Long.MIN_VALUE, "10.0.0.1:7460", 8L << 30, true, ServerState.LOST);
  private static final Member MEMBER =
      new Member(
          5, 9, "10.0.0.1:7461", 4711, "höst", ServerState.SERVING, 1L << 40, new Unwritten(16, 9));
  private static final Change CHANGE =
      Change.split(3, -5, 4).withId(17).executedBy(MEMBER).failed("no fence");
  private static final BoundKey STRING = BoundKey.of(bytes("käse"));
  private static final Change STRING_CHANGE =
      Change.move(3, STRING).withId(18).executedBy(MEMBER).movedFrom(9).done();
  private static final Routes STRING_ROUTES =
      new Routes(
          12,
          true,
          true,
          List.of(
              new Routes.Route(Long.MIN_VALUE, bytes(""), 3, "a:1"),
              new Routes.Route(-1, bytes("k"), 0, ""),
              new Routes.Route(7, bytes("k\0"), 1, "b:1")));
  private static final Routes ROUTES =
      new Routes(
          12,
          true,
          List.of(new Routes.Route(Long.MIN_VALUE, 3, "a:1"), new Routes.Route(-1, 0, "")));

  static final List<Example> EXAMPLES =
      List.of(
          new Example(CONFIG, CONFIG::encode, Config::decode),
          new Example(REBUILD, REBUILD::encode, Rebuild::decode),
          new Example(AWAITED, AWAITED::encode, Rebuild::decode),
          new Example(POOL, POOL::encode, PoolEntry::decode),
          new Example(MEMBER, MEMBER::encode, Member::decode),
          new Example(CHANGE, CHANGE::encode, Change::decode),
          new Example(STRING_CHANGE, STRING_CHANGE::encode, Change::decode),
          new Example(STRING_ROUTES, () -> RoutesEntry.encode(STRING_ROUTES), RoutesEntry::decode),
          new Example(ROUTES, () -> RoutesEntry.encode(ROUTES), RoutesEntry::decode));

  private static MemorySegment bytes(String text) {
    return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
  }

  @ParameterizedTest
  @FieldSource("EXAMPLES")
  void shouldReadWhatWasWritten(Example example) {
    assertThat(example.decode.apply(example.bytes())).isEqualTo(example.value);
  }

  @ParameterizedTest
  @FieldSource("EXAMPLES")
  void shouldRefuseWhatIsCutOffOrGoesOn(Example example) {
    for (int length = 0; length < example.bytes().length; length++) {
      byte[] part = Arrays.copyOf(example.bytes(), length);
      assertThatThrownBy(() -> example.decode.apply(part))
          .isInstanceOf(MalformedEntryException.class);
    }
    byte[] more = Arrays.copyOf(example.bytes(), example.bytes().length + 1);
    assertThatThrownBy(() -> example.decode.apply(more))
        .isInstanceOf(MalformedEntryException.class);
  }

  @ParameterizedTest
  @FieldSource("EXAMPLES")
  void shouldRefuseOrReadHostileBytes(Example example) {
    SplittableRandom random = new SplittableRandom(0x5EED);
    int refused = 0;
    int rounds = 3_000;
    for (int round = 0; round < rounds; round++) {
      byte[] bytes = example.bytes().clone();
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      }
      try {
        assertThat(example.decode.apply(bytes)).isNotNull();
      } catch (MalformedEntryException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(1, rounds);
  }

  @Test
  void shouldRefuseAnotherKindAndVersion() {
    assertThatThrownBy(() -> Member.decode(POOL.encode()))
        .isInstanceOf(MalformedEntryException.class);
    byte[] later = MEMBER.encode();
    later[2]++;
    assertThatThrownBy(() -> Member.decode(later))
        .isInstanceOf(MalformedEntryException.class)
        .hasMessageContaining("version");
  }

  @Test
  void shouldReadAddressesOfClusters() {
    ClusterAddress address = ClusterAddress.parse("10.0.0.1:2181,zk2:2182/grove-1");
    assertThat(address.coordinator()).isEqualTo("10.0.0.1:2181,zk2:2182");
    assertThat(address.name()).isEqualTo("grove-1");
    for (String wrong : List.of("", "a/b", "a:1", "a:1/", "a:1/b/c", "a:1,/b", "a:1/b c", "/b")) {
      assertThatThrownBy(() -> ClusterAddress.parse(wrong))
          .as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void shouldHaveRoomForLongKeys() {
    MemorySegment longest = MemorySegment.ofArray(new byte[ByteIndex.KEY_BYTES_MAX]);
    Change change = Change.split(3, BoundKey.of(longest), 4).withId(1);
    assertThat(Change.decode(change.encode())).isEqualTo(change);
    assertThat(change.encode().length).isLessThan(Membership.ENTRY_BYTES_MAX);
    MemorySegment longer = MemorySegment.ofArray(new byte[ByteIndex.KEY_BYTES_MAX + 1]);
    assertThatThrownBy(() -> Change.split(3, BoundKey.of(longer), 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("keyBytes=65536");
  }

  /** A table whose ranges begin with the empty string, and with long ones. */
  private static Partitioning longFences(int ranges) {
    List<MemorySegment> fences = new ArrayList<>();
    for (int range = 0; range < ranges; range++) {
      byte[] fence = new byte[range == 0 ? 0 : ByteIndex.KEY_BYTES_MAX];
      Arrays.fill(fence, (byte) range);
      fences.add(MemorySegment.ofArray(fence));
    }
    return Partitioning.equalWidth(ranges).withFences(fences);
  }

  @Test
  void shouldRefuseChangesWhoseRoutesHaveNoRoomInAnEntry() {
    BoundKey four = BoundKey.of(bytes("four"));
    BoundKey five = BoundKey.of(bytes("fives"));
    Partitioning table = longFences(5);
    assertThat(RoutesEntry.refusal(table, Change.split(4, four, 9))).isEmpty();
    assertThat(RoutesEntry.refusal(table, Change.split(4, five, 9)).orElseThrow())
        .contains("ranges=5, keyBytes=262140, afterwards=262145, maximum=262144");
    assertThat(RoutesEntry.refusal(table, Change.add(9)).orElseThrow())
        .contains("afterwards=327675");
    assertThat(RoutesEntry.refusal(table, Change.move(4, five))).isEmpty();
    assertThat(RoutesEntry.refusal(table, Change.remove(4))).isEmpty();
    assertThat(RoutesEntry.refusal(longFences(4), Change.add(9))).isEmpty();
    assertThat(RoutesEntry.refusal(Partitioning.equalWidth(5), Change.add(9))).isEmpty();
    Routes routes = Routes.of(table, owner -> Optional.of("a:" + owner));
    assertThat(RoutesEntry.encode(routes).length).isLessThan(Membership.ENTRY_BYTES_MAX);
    assertThat(RoutesEntry.decode(RoutesEntry.encode(routes))).isEqualTo(routes);
  }

  @Test
  void shouldFindRanges() {
    assertThat(ownerOf(Long.MIN_VALUE)).isEqualTo(3);
    assertThat(ownerOf(-2)).isEqualTo(3);
    assertThat(ownerOf(-1)).isEqualTo(0);
    assertThat(ownerOf(Long.MAX_VALUE)).isEqualTo(0);
  }

  private static int ownerOf(long key) {
    return ROUTES.partitioning().ownerOfKey(key);
  }

  @Test
  void shouldRefuseChangesOfServersThatCannotBe() {
    for (int number : new int[] {-1, 64, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> Change.remove(number))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("server=" + number);
      assertThatThrownBy(() -> Change.split(0, 0, number == -1 ? 0 : number))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
