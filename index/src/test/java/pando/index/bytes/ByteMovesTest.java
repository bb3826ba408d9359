package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.index.BoundKey;
import pando.index.Break;
import pando.index.HookedFabric;
import pando.index.MovablePartitions;
import pando.index.NotServedHereException;
import pando.index.Seeds;
import pando.index.Threads;
import pando.index.orca.OrcaOptions;

/** Ranges of byte strings that move, where steps of that fail, or there is little room. */
@Timeout(300)
class ByteMovesTest {
  private static final long POOL_BYTES = 16 << 20;

  private final NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  private void put(ByteMoves moves, SplittableRandom random, int count, int valueBytesMax) {
    for (int i = 0; i < count; i++) {
      byte[] key = new byte[3];
      random.nextBytes(key);
      byte[] value = KeyedValue.draw(random, key, valueBytesMax);
      moves.sessions[moves.owner(key)].store(
          MemorySegment.ofArray(key), MemorySegment.ofArray(value));
      model.put(key, value);
    }
  }

  private void check(ByteMoves moves) {
    NavigableMap<byte[], byte[]> found = moves.all();
    assertThat(found.keySet()).containsExactlyElementsOf(model.keySet());
    found.forEach((key, value) -> assertThat(value).isEqualTo(model.get(key)));
  }

  private static byte[] key(int first) {
    return new byte[] {(byte) first};
  }

  private static void split(ByteMoves moves, int giver, byte[] key, int receiver) {
    moves
        .indexes[giver]
        .partitions()
        .orElseThrow()
        .split(giver, BoundKey.of(MemorySegment.ofArray(key)), receiver);
    moves.refresh(receiver);
  }

  /** Gives blocks some labels in a row, while no operation runs. */
  private static void relabel(ByteIndex index, int from, int to, long first) {
    BlockEntry[] all = index.directory.all();
    for (int i = from; i < to; i++) {
      long before = all[i].label();
      index.changes.labels.store(first + i - from, all[i].state().word());
      all[i].setLabel(first + i - from);
      index.changes.labels.discard(before);
    }
    index.restartLabels();
  }

  /** Both blocks that stay and blocks that leave get other labels where these are short. */
  @Test
  void shouldKeepBlocksThatGetOtherLabelsWhereTheGiverEnds() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3402));
    ByteOptions options = ByteMoves.options(0);
    try (ByteMoves moves =
        new ByteMoves(
            2, POOL_BYTES, options.withLabels(options.labels().with("delta-changes", "255")))) {
      ByteIndex giver = moves.indexes[0];
      put(moves, random, 3_000, 60);
      giver.flush();
      int blocks = giver.directory.size();
      relabel(giver, 0, blocks / 3, Long.MIN_VALUE / 4);
      relabel(giver, blocks / 3, blocks * 2 / 3, 1_000);
      int last = blocks - blocks * 2 / 3;
      relabel(giver, blocks * 2 / 3, blocks, Long.MAX_VALUE - last);
      giver.flush();
      moves.endBehindTable(0);
      byte[] fence = ByteKeys.bytes(giver.directory.all()[blocks / 2].low());
      assertThatThrownBy(() -> split(moves, 0, fence, 1)).isInstanceOf(PandoException.class);
      moves.lose(0);
      assertThat(catchThrowable(giver::close)).isNotNull();
      moves.indexes[1].partitions().orElseThrow().takeOver(0, 1);
      moves.refresh(1);
      moves.join(0);
      check(moves);
    }
  }

  /** A step that fails in any way leaves both processes as they are, or as they are to be. */
  @Test
  void shouldGoOnWhereAnyVerbOfAMoveFails() {
    long seed = Seeds.of(3403);
    int failures = 0;
    for (int run = 0; run < Seeds.count(4, 40, 1_000); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      model.clear();
      try (ByteMoves moves =
          new ByteMoves(3, POOL_BYTES, ByteMoves.options(random.nextInt(2) * 20_000))) {
        for (int i = 0; i < 40; i++) {
          put(moves, random, random.nextInt(60), 100 + random.nextInt(400));
          failures += fail(moves, random) ? 1 : 0;
          for (int number = 0; number < moves.indexes.length; number++) {
            moves.refresh(number);
          }
          check(moves);
        }
        int last = moves.gather();
        check(moves);
        for (ByteIndex index : moves.indexes) {
          index.close();
        }
        moves.join(last);
        check(moves);
      } catch (Throwable e) {
        throw new AssertionError("run=" + run, e);
      }
    }
    System.out.println(failures + " failures");
    assertThat(failures).isPositive();
  }

  /** Has one verb fail while ranges change; returns whether the change fails. */
  private static boolean fail(ByteMoves moves, SplittableRandom random) {
    HookedFabric fabric = moves.fabrics[random.nextInt(moves.fabrics.length)];
    Break how = Break.any(random);
    int[] left = {random.nextInt(1 + random.nextInt(200))};
    fabric.hookEach(_ -> left[0]-- == 0, posting -> how.happen(fabric, posting, 0));
    Throwable failure = catchThrowable(() -> moves.change(random, 3));
    fabric.unhook();
    if (failure != null) {
      assertThat(failure).isInstanceOfAny(PandoException.class, OutOfMemoryError.class);
    }
    return failure != null;
  }

  @Test
  void shouldLeaveRangesAsTheyAreWhereABoundaryIsMovedToItself() {
    try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
      split(moves, 0, key('a'), 1);
      long epoch = moves.table().epoch();
      for (int i = 0; i < 3; i++) {
        BoundKey low = BoundKey.of(MemorySegment.ofArray(key('a')));
        assertThat(moves.indexes[1].partitions().orElseThrow().moveBoundary(1, low)).isEqualTo(low);
      }
      assertThat(moves.table().epoch()).isEqualTo(epoch);
    }
  }

  @Test
  void shouldNameTheNewOwnerOfARangeThatLeavesBeforeItsBlocksAreRead() {
    try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
      ByteIndex receiver = moves.indexes[1];
      MemorySegment key = MemorySegment.ofArray(key('z'));
      for (boolean isAsked : List.of(true, false)) {
        BoundKey low = BoundKey.of(MemorySegment.ofArray(key('a')));
        moves.indexes[0].partitions().orElseThrow().split(0, low, 1);
        receiver.labels.changes().refreshPartitions();
        moves.fabrics[1].hookWorker(
            () -> receiver.partitions().orElseThrow().removeComputeServer(1));
        if (!isAsked) {
          receiver.ranges.follow();
        }
        assertThatThrownBy(() -> moves.sessions[1].get(key))
            .isInstanceOf(NotServedHereException.class)
            .hasMessageEndingWith("key=%s, computeServer=0", ByteArguments.text(key));
        assertThat(moves.table().servers()).isEqualTo(1);
      }
    }
  }

  @Test
  void shouldLoseNothingWhereThePoolIsFull() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3351));
    try (ByteMoves moves = new ByteMoves(2, 1 << 20, ByteMoves.options(20_000))) {
      NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
      fill(moves, model, random);
      for (int i = 0; i < 30; i++) {
        try {
          moves.change(random, 4);
        } catch (PoolFullException | StalledException _) {
          // The ranges stay as they are.
        }
        fill(moves, model, random);
        assertThat(moves.all().keySet()).isEqualTo(model.keySet());
      }
      for (byte[] key : List.copyOf(model.keySet())) {
        if (random.nextInt(4) > 0) {
          assertThat(moves.sessions[moves.owner(key)].remove(MemorySegment.ofArray(key))).isTrue();
          model.remove(key);
        }
      }
      moves.gather();
      assertThat(moves.all().keySet()).isEqualTo(model.keySet());
    }
  }

  /** Stores entries until the pool has no room. */
  private static void fill(
      ByteMoves moves, NavigableMap<byte[], byte[]> model, SplittableRandom random) {
    while (true) {
      byte[] key = ByteKeys.draw(random, 8);
      byte[] value = KeyedValue.draw(random, key, 3_000);
      try {
        moves.sessions[moves.owner(key)].store(
            MemorySegment.ofArray(key), MemorySegment.ofArray(value));
      } catch (PoolFullException _) {
        return;
      }
      model.put(key, value);
    }
  }

  /** The heir has never stored the fences, which are long where there are many ranges. */
  @ParameterizedTest
  @ValueSource(ints = {3, 16})
  void shouldTakeOverWhereThePoolIsFull(int processes) {
    long seed = Seeds.of(3406);
    for (int run = 0; run < Seeds.count(1, 10); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      model.clear();
      try (ByteMoves moves = new ByteMoves(processes, 1 << 20, ByteMoves.options(0))) {
        for (int number = 1; number < processes; number++) {
          byte[] fence = new byte[processes];
          random.nextBytes(fence);
          fence[0] = (byte) (number * 256 / processes);
          split(moves, number - 1, fence, number);
        }
        for (int number = 0; number < processes; number++) {
          moves.refresh(number);
        }
        fill(moves, random);
        for (ByteIndex index : moves.indexes) {
          index.flush();
        }
        int lost = 1 + random.nextInt(processes - 1);
        moves.lose(lost);
        assertThat(catchThrowable(moves.indexes[lost]::close)).isNotNull();
        moves.indexes[lost - 1].partitions().orElseThrow().takeOver(lost, lost - 1);
        check(moves);
      } catch (Throwable e) {
        throw new AssertionError("run=" + run, e);
      }
    }
  }

  /** Stores entries until no process has room for any. */
  private void fill(ByteMoves moves, SplittableRandom random) {
    int[] refused = new int[moves.indexes.length];
    while (Arrays.stream(refused).min().orElseThrow() < 30) {
      byte[] key = ByteKeys.draw(random, 8);
      byte[] value = KeyedValue.draw(random, key, 300);
      int owner = moves.owner(key);
      try {
        moves.sessions[owner].store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      } catch (PoolFullException _) {
        refused[owner]++;
      }
    }
  }

  @Test
  void shouldKeepNoRoomOfAProcessThatCouldNotJoin() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3405));
    try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
      put(moves, random, 100, 100);
      split(moves, 0, key('a'), 1);
      moves.indexes[1].close();
      for (int verb = 0; verb < 60; verb++) {
        moves.attach(1);
        int[] left = {verb};
        moves.fabrics[1].hookEach(
            _ -> left[0]-- == 0,
            _ -> {
              throw Break.lost();
            });
        Throwable failure = catchThrowable(() -> moves.open(1));
        moves.fabrics[1].unhook();
        if (failure == null) {
          moves.indexes[1].close();
        } else {
          assertThat(failure).isInstanceOf(PandoException.class);
        }
      }
      moves.join(1);
      moves.gather();
      moves.indexes[1].close();
      check(moves);
      model.keySet().forEach(key -> moves.sessions[0].discard(MemorySegment.ofArray(key)));
      assertThat(moves.indexes[0].space().otherBytes()).isZero();
    }
  }

  @Test
  void shouldFindNoMiddleKeyThatIsTooLong() {
    byte[] low = new byte[ByteIndex.KEY_BYTES_MAX];
    Arrays.fill(low, (byte) 'p');
    byte[] high = low.clone();
    high[high.length - 1]++;
    try (ByteMoves moves = new ByteMoves(4, POOL_BYTES, ByteMoves.options(0))) {
      split(moves, 0, low, 1);
      split(moves, 1, high, 2);
      assertThat(moves.indexes[1].partitions().orElseThrow().addComputeServer(1, 3)).isFalse();
      check(moves);
    }
  }

  @Test
  void shouldEstimateTheSizeOfARangeThatMoves() throws Exception {
    try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
      split(moves, 0, key('a'), 1);
      AtomicBoolean moving = new AtomicBoolean(true);
      Threads.run(
          List.of(
              () -> {
                while (moving.get()) {
                  assertThat(moves.indexes[0].partitions().orElseThrow().sizeEstimate(0)).isZero();
                }
                return null;
              },
              () -> {
                for (int i = 0; i < 60; i++) {
                  moves.move(1, key(i % 2 == 0 ? 1 : 'a'));
                }
                moving.set(false);
                return null;
              }));
    }
  }

  @Test
  void shouldRefuseChangesOfRangesByAThreadThatKeepsOthersOut() {
    try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
      MovablePartitions ranges = moves.indexes[0].partitions().orElseThrow();
      BoundKey key = BoundKey.of(MemorySegment.ofArray(key('a')));
      moves.sessions[0].alone(() -> {
        List<Runnable> changes =
            List.of(
                ranges::refreshPartitions,
                () -> ranges.split(0, key, 1),
                () -> ranges.removeComputeServer(0),
                () -> ranges.takeOver(1, 0),
                moves.indexes[0]::space);
        for (Runnable change : changes) {
          assertThatIllegalStateException()
              .isThrownBy(change::run)
              .withMessage("this thread keeps others out of the index");
        }
        assertThat(ranges.readPartitions().servers()).isEqualTo(1);
        assertThat(ranges.sizeEstimate(0)).isZero();
      });
    }
  }

  @Test
  void shouldRefuseAPoolOfByteStringsAsOneOfWords() {
    try (ByteMoves moves = new ByteMoves(1, POOL_BYTES, ByteMoves.options(0))) {
      OrcaOptions words = ByteMoves.options(0).labels();
      assertThatIllegalStateException()
          .isThrownBy(() -> words.join(moves.fabrics[0], 0, 1))
          .withMessageContaining("byte strings");
      assertThatIllegalStateException()
          .isThrownBy(() -> words.joinAt(moves.fabrics[0], 1))
          .withMessageContaining("byte strings");
    }
  }
}
