package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.fabric.Fabric;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.server.CallFailedException;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.bytes.ByteKeys;
import pando.index.bytes.ByteModelRun;
import pando.index.bytes.ByteSession;

/** Verbs that fail, and pools that are full. */
@Tag("campaign")
class DexStringsFailuresTest {
  private static final int OPERATIONS = Seeds.count(3_000, 6_000, 100_000);

  /** The longest value, with what is before it, takes so many bytes of the pool. */
  private static final int PLACE_BYTES = 128;

  /** What a memory server gives a compute server at a time, for places of one size. */
  private static final int PART_BYTES = 4 << 10;

  /** Greatest number of bytes that the verbs which broke have left with nobody. */
  private long unknownBytes;

  private static DexOptions options(int frames) {
    return DexOptions.defaults()
        .with("key-bytes", "16")
        .with("node-bytes", "256")
        .with("cache-bytes", String.valueOf(frames * 256))
        .with("compute-servers", "2");
  }

  /** Draws a change or a look, has one of its verbs break, and compares with the model. */
  private boolean breaks(
      HookedFabric fabric,
      Break how,
      SplittableRandom random,
      ByteSession session,
      ByteSession other,
      NavigableMap<byte[], byte[]> model) {
    byte[] key = ByteKeys.draw(random, 3);
    byte[] value = KeyedValue.draw(random, key, PLACE_BYTES - 12);
    byte @Nullable [] before = model.get(key);
    int kind = random.nextInt(8);
    byte @Nullable [] after =
        switch (kind) {
          case 0, 1 -> null;
          case 2 -> before == null ? value : before;
          case 3, 4 -> before == null ? null : value;
          case 5 -> before;
          default -> value;
        };
    MemorySegment its = MemorySegment.ofArray(key);
    MemorySegment stored = MemorySegment.ofArray(value);
    int[] verb = {random.nextInt(3) == 0 ? random.nextInt(6) : Integer.MAX_VALUE};
    fabric.hookNext(
        _ -> verb[0]-- == 0,
        posting -> {
          unknownBytes += posting.isCall() ? PART_BYTES : PLACE_BYTES;
          how.happen(fabric, posting, 0);
        });
    Throwable failure =
        catchThrowable(() -> {
          switch (kind) {
            case 0 -> assertThat(session.remove(its)).isEqualTo(before != null);
            case 1 -> session.discard(its);
            case 2 -> assertThat(session.putIfAbsent(its, stored)).isEqualTo(before == null);
            case 3 -> assertThat(session.update(its, stored)).isEqualTo(before != null);
            case 4 -> {
              MemorySegment expected =
                  before == null
                      ? MemorySegment.ofArray(new byte[1])
                      : MemorySegment.ofArray(before);
              assertThat(session.replace(its, expected, stored)).isEqualTo(before != null);
            }
            case 5 -> session.scan(its, null, 20, (k, v) -> KeyedValue.checked(k, v).length > 0);
            case 6 -> assertThat(session.put(its, stored)).isEqualTo(before != null);
            default -> session.store(its, stored);
          }
        });
    fabric.unhook();
    byte @Nullable [] found = other.get(its) ? KeyedValue.checked(its, other.value()) : null;
    if (failure == null) {
      assertThat(found).isEqualTo(after);
    } else {
      assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
      assertThat(Arrays.equals(found, before) || Arrays.equals(found, after)).isTrue();
    }
    if (found == null) {
      model.remove(key);
    } else {
      model.put(key, found);
    }
    return failure != null;
  }

  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLoseNothingWhereverAVerbFails(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3501));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 3502));
        DexIndex index = DexIndex.create(fabric, options(64));
        DexStrings strings = DexStrings.over(index);
        ByteSession session = strings.session();
        ByteSession other = strings.session()) {
      int failed = 0;
      for (int i = 0; i < OPERATIONS; i++) {
        failed += breaks(fabric, how, random, session, other, model) ? 1 : 0;
      }
      ByteModelRun.checkAll(other, model);
      assertThat(strings.valuesLost()).isZero();
      System.out.println(how + ": " + failed + " operations failed");
      assertThat(failed).isGreaterThan(100);
    }
  }

  /**
   * With the tree in the cache, the verbs that fail are those of blobs. One stays behind where it
   * is not known whether it is stored or freed, and where a memory server is said to be lost; all
   * that a memory server has given, where its answer is lost.
   */
  @ParameterizedTest
  @EnumSource(Break.class)
  void shouldLeaveNoMoreBehindThanWhatIsNotKnown(Break how) {
    SplittableRandom random = new SplittableRandom(Seeds.of(3503));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 3504));
        DexIndex index = DexIndex.create(fabric, options(2_000).with("offloading", "off"));
        DexStrings strings = DexStrings.over(index);
        ByteSession other = strings.session()) {
      for (int i = 0; i < 20_000; i++) {
        byte[] key = ByteKeys.draw(random, 3);
        byte[] value = KeyedValue.draw(random, key, 100);
        other.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
      assertThat(strings.space().otherBytes()).isZero();
      int failed = 0;
      try (ByteSession session = strings.session()) {
        for (int i = 0; i < OPERATIONS; i++) {
          failed += breaks(fabric, how, random, session, other, model) ? 1 : 0;
        }
      }
      ByteModelRun.checkAll(other, model);
      assertThat(failed).isGreaterThan(100);
      long left = strings.space().otherBytes();
      System.out.println(
          how + ": " + failed + " operations failed, " + left + " bytes left of " + unknownBytes);
      assertThat(left).isBetween(0L, unknownBytes);
      if (how == Break.ERROR_BEFORE) {
        assertThat(left).isZero();
      }
    }
  }

  @Test
  void shouldLoseNothingInAFullPoolAndWorkAgainAfterRemovals() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3505));
    NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
    try (Fabric fabric = Pools.open(2, 1 << 20, 3506);
        DexIndex index = DexIndex.create(fabric, options(64))) {
      try (DexStrings strings = DexStrings.over(index);
          ByteSession session = strings.session()) {
        for (int round = 0; round < 3; round++) {
          int before = model.size();
          fill(session, model, random);
          assertThat(model.size()).isGreaterThan(before + 50);
          ByteModelRun.checkAll(session, model);
          List<byte[]> keys = new ArrayList<>(model.keySet());
          for (int i = 0; i < keys.size(); i += 2) {
            assertThat(session.remove(MemorySegment.ofArray(keys.get(i)))).isTrue();
            model.remove(keys.get(i));
          }
          ByteModelRun.checkAll(session, model);
        }
        model.keySet().forEach(key -> session.discard(MemorySegment.ofArray(key)));
        assertThat(session.first()).isFalse();
      }
      assertThat(index.space().otherBytes()).isZero();
    }
  }

  private static void fill(
      ByteSession session, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
    for (int refused = 0; refused < 8; ) {
      byte[] key = ByteKeys.draw(random, 14);
      byte[] value = ByteKeys.value(random, 20_000);
      try {
        session.put(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      } catch (PoolFullException e) {
        refused++;
      }
    }
  }

  @Test
  void shouldBeClosedAgainWhereThatFailed() {
    try (HookedFabric fabric = new HookedFabric(Pools.open(2, 16 << 20, 3507));
        DexIndex index = DexIndex.create(fabric, options(64))) {
      DexStrings strings = DexStrings.over(index);
      ByteSession session = strings.session();
      for (int i = 0; i < 200; i++) {
        MemorySegment key = ByteKeys.of((byte) i);
        session.store(key, MemorySegment.ofArray(new byte[100]));
        session.store(key, MemorySegment.ofArray(new byte[200]));
      }
      fabric.hookEach(
          _ -> true,
          posting -> {
            throw new CallFailedException("by a test");
          });
      assertThat(catchThrowable(strings::close)).isInstanceOf(PandoException.class);
      assertThat(strings.isClosed()).isTrue();
      fabric.unhook();
      strings.close();
      strings.close();
      session.close();
      try (DexStrings again = DexStrings.over(index);
          ByteSession opened = again.session()) {
        assertThat(opened.scan(ByteKeys.of(), null, 999, (key, value) -> true)).isEqualTo(200);
      }
    }
  }
}
