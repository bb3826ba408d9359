package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.PandoException;
import pando.index.Break;
import pando.index.MovablePartitions;
import pando.index.Partitioning;
import pando.index.Seeds;

/**
 * Processes of byte strings that end while they are given keys, or inherit them, and get keys again
 * later: what is left of keys that they had does not come back.
 */
@Timeout(600)
class ByteHeirsTest {
  private static final int PROCESSES = 3;
  private static final int VERBS = 400;
  private static final long POOL_BYTES = 16 << 20;

  private final NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  private void change(ByteMoves moves, SplittableRandom random, int operations) {
    for (int i = 0; i < operations; i++) {
      byte[] key = ByteKeys.draw(random, 3);
      ByteSession session = moves.sessions[moves.owner(key)];
      if (random.nextInt(3) == 0) {
        session.discard(MemorySegment.ofArray(key));
        model.remove(key);
      } else {
        byte[] value = KeyedValue.draw(random, key, 200);
        session.store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
    }
  }

  /** Stores entries with keys of one process. */
  private void addAt(ByteMoves moves, SplittableRandom random, int number, int count) {
    for (int i = 0; i < count; i++) {
      byte[] key = ByteKeys.draw(random, 5);
      if (moves.owner(key) == number) {
        byte[] value = KeyedValue.draw(random, key, 200);
        moves.sessions[number].store(MemorySegment.ofArray(key), MemorySegment.ofArray(value));
        model.put(key, value);
      }
    }
  }

  private static void flush(ByteMoves moves) {
    for (ByteIndex index : moves.indexes) {
      index.flush();
    }
  }

  private void check(ByteMoves moves) {
    NavigableMap<byte[], byte[]> found = moves.all();
    assertThat(found.keySet()).containsExactlyElementsOf(model.keySet());
    found.forEach((key, value) -> assertThat(value).isEqualTo(model.get(key)));
  }

  private static MovablePartitions ranges(ByteMoves moves, int number) {
    return moves.indexes[number].partitions().orElseThrow();
  }

  /** Takes steps in which one ends at some verb, if they get there; returns whether it ended. */
  private static boolean ends(ByteMoves moves, int number, int verb, Runnable steps) {
    int[] left = {verb};
    moves.fabrics[number].hookEach(
        _ -> left[0]-- <= 0,
        _ -> {
          throw Break.lost();
        });
    Throwable failure = catchThrowable(steps::run);
    moves.fabrics[number].unhook();
    if (failure == null) {
      return false;
    }
    if (left[0] >= 0 || !(failure instanceof PandoException)) {
      throw new AssertionError("not by the end of a process", failure);
    }
    lose(moves, number);
    return true;
  }

  private static void lose(ByteMoves moves, int number) {
    moves.lose(number);
    assertThat(catchThrowable(moves.indexes[number]::close)).isNotNull();
  }

  private static void takeOver(ByteMoves moves, int lost, int heir) {
    ranges(moves, heir).takeOver(lost, heir);
    moves.refresh(heir);
  }

  /** Has the first one give half of its keys to the second one, which does not take them on yet. */
  private static void giveHalf(ByteMoves moves) {
    assertThat(ranges(moves, 0).addComputeServer(0, 1)).isTrue();
  }

  @Test
  void shouldForgetWhatOneHadThatEndsAtAnyVerbAndGetsKeysAgain() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3407));
    boolean ended = true;
    for (int verb = 0; ended; verb++) {
      model.clear();
      try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
        change(moves, random, 200);
        giveHalf(moves);
        ended = ends(moves, 1, verb, () -> moves.refresh(1));
        if (ended) {
          takeOver(moves, 1, 0);
          moves.join(1);
          // Others use the place of what it had.
          model.keySet().forEach(key -> moves.sessions[0].discard(MemorySegment.ofArray(key)));
          model.clear();
          flush(moves);
          change(moves, random, 200);
          flush(moves);
          giveHalf(moves);
          if (random.nextBoolean()) {
            // It ends again.
            lose(moves, 1);
            moves.join(1);
          }
          moves.refresh(1);
        }
        check(moves);
      } catch (Throwable e) {
        throw new AssertionError("verb=" + verb, e);
      }
    }
  }

  /** A giver that ends behind the partition table has a root that leads to all that it gave. */
  @Test
  void shouldKeepWhatAnHeirHasBesidesThatEndsAtAnyVerb() {
    SplittableRandom random = new SplittableRandom(Seeds.of(3409));
    boolean ended = true;
    for (int verb = 0; ended; verb++) {
      model.clear();
      try (ByteMoves moves = new ByteMoves(2, POOL_BYTES, ByteMoves.options(0))) {
        change(moves, random, 200);
        moves.indexes[0].flush();
        moves.endBehindTable(0);
        assertThat(catchThrowable(() -> giveHalf(moves))).isInstanceOf(PandoException.class);
        lose(moves, 0);
        moves.refresh(1);
        addAt(moves, random, 1, 200);
        moves.indexes[1].flush();
        ended = ends(moves, 1, verb, () -> takeOver(moves, 0, 1));
        moves.join(0);
        if (ended) {
          moves.join(1);
        }
        check(moves);
      } catch (Throwable e) {
        throw new AssertionError("verb=" + verb, e);
      }
    }
  }

  @Test
  void shouldServeWhatThereWasWhereHeirsEndAtAnyVerb() {
    long seed = Seeds.of(3408);
    int ends = 0;
    for (int run = 0; run < Seeds.count(6, 200, 20_000); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      model.clear();
      try (ByteMoves moves = new ByteMoves(PROCESSES, POOL_BYTES, ByteMoves.options(0))) {
        for (int i = 0; i < 12; i++) {
          moves.change(random, 3);
          change(moves, random, random.nextInt(60));
          flush(moves);
          ends += endSome(moves, random);
          for (int number = 0; number < PROCESSES; number++) {
            moves.refresh(number);
          }
          check(moves);
        }
      } catch (Throwable e) {
        throw new AssertionError("run=" + run, e);
      }
    }
    System.out.println(ends + " ends");
    assertThat(ends).isPositive();
  }

  /** Has one end, and heirs of it; starts all of them again. Returns how many ended. */
  private static int endSome(ByteMoves moves, SplittableRandom random) {
    List<Integer> lost = new ArrayList<>();
    int first = random.nextInt(PROCESSES);
    if (ends(moves, first, verb(random), () -> changeOften(moves, random))) {
      lost.add(first);
    }
    List<Integer> living = new ArrayList<>(List.of(0, 1, 2));
    living.removeAll(lost);
    for (int heir : living) {
      for (int one : List.copyOf(lost)) {
        boolean dies =
            random.nextBoolean()
                && lost.size() < PROCESSES - 1
                && isHeir(ranges(moves, heir).readPartitions(), one, heir)
                && ends(moves, heir, verb(random), () -> takeOver(moves, one, heir));
        if (dies) {
          lost.add(heir);
          break;
        }
      }
    }
    living.removeAll(lost);
    int by = living.getFirst();
    for (int one : lost) {
      if (random.nextBoolean() && isHeir(ranges(moves, by).readPartitions(), one, by)) {
        takeOver(moves, one, by);
      }
    }
    lost.forEach(moves::join);
    return lost.size();
  }

  private static int verb(SplittableRandom random) {
    return random.nextInt(1 + random.nextInt(VERBS));
  }

  private static void changeOften(ByteMoves moves, SplittableRandom random) {
    for (int i = 0; i < 10; i++) {
      moves.change(random, 3);
    }
  }

  private static boolean isHeir(Partitioning table, int lost, int heir) {
    return table.hasServer(lost)
        && (!table.hasServer(heir)
            || Math.abs(table.rangeOfServer(lost) - table.rangeOfServer(heir)) == 1);
  }
}
