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
import pando.index.Partitioning;
import pando.index.Seeds;

/**
 * Processes that give or get ranges of byte strings, and end at any verb: another one takes their
 * ranges over, or they start again. What was flushed is there, or a later change of it.
 */
@Timeout(600)
class ByteMovesCrashTest {
  private static final int PROCESSES = 3;
  private static final int VERBS = 3_000;
  private static final byte[] NOTHING = {};

  private final NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);

  /** What keys may have that were changed since the last flush. */
  private final NavigableMap<byte[], List<byte[]>> possible =
      new TreeMap<>(Arrays::compareUnsigned);

  private void change(ByteMoves moves, SplittableRandom random, int operations) {
    for (int i = 0; i < operations; i++) {
      byte[] key = ByteKeys.draw(random, 3);
      byte[] value = KeyedValue.draw(random, key, 2_000 >> random.nextInt(9));
      boolean removes = random.nextInt(3) == 0;
      byte[] before = model.getOrDefault(key, NOTHING);
      possible.computeIfAbsent(key, _ -> new ArrayList<>(List.of(before)));
      possible.get(key).add(removes ? NOTHING : value);
      MemorySegment its = MemorySegment.ofArray(key);
      ByteSession session = moves.sessions[moves.owner(key)];
      boolean found =
          removes ? session.remove(its) : session.put(its, MemorySegment.ofArray(value));
      assertThat(found ? ByteKeys.bytes(session.value()) : NOTHING).isEqualTo(before);
      if (removes) {
        model.remove(key);
      } else {
        model.put(key, value);
      }
    }
  }

  private void flush(ByteMoves moves) {
    for (ByteIndex index : moves.indexes) {
      index.flush();
    }
    possible.clear();
  }

  private void checkPossible(NavigableMap<byte[], byte[]> found) {
    NavigableMap<byte[], byte[]> all = new TreeMap<>(Arrays::compareUnsigned);
    all.putAll(model);
    possible.keySet().forEach(key -> all.putIfAbsent(key, NOTHING));
    all.forEach((key, value) ->
        assertThat(possible.getOrDefault(key, List.of(value)))
            .as(Arrays.toString(key))
            .contains(found.getOrDefault(key, NOTHING)));
    assertThat(all.keySet()).containsAll(found.keySet());
    model.clear();
    model.putAll(found);
    possible.clear();
  }

  private void checkModel(NavigableMap<byte[], byte[]> found) {
    assertThat(found.keySet()).containsExactlyElementsOf(model.keySet());
    found.forEach((key, value) -> assertThat(value).isEqualTo(model.get(key)));
  }

  /** Has one end at some verb; returns whether it had one left for that. */
  private boolean end(ByteMoves moves, SplittableRandom random, int lost) {
    int[] left = {random.nextInt(1 + random.nextInt(VERBS))};
    moves.fabrics[lost].hookEach(
        _ -> left[0]-- <= 0,
        _ -> {
          throw Break.lost();
        });
    Throwable failure =
        catchThrowable(() -> {
          for (int i = 0; i < 40; i++) {
            moves.change(random, 3);
            change(moves, random, random.nextInt(20));
          }
        });
    if (failure != null && (left[0] >= 0 || !(failure instanceof PandoException))) {
      throw new AssertionError("not by the end of a process", failure);
    }
    left[0] = 0;
    return failure != null;
  }

  private void goOn(ByteMoves moves, SplittableRandom random, int lost) {
    int by = (lost + 1 + random.nextInt(PROCESSES - 1)) % PROCESSES;
    moves.lose(lost);
    assertThat(catchThrowable(moves.indexes[lost]::close)).isNotNull();
    Partitioning table = moves.indexes[by].partitions().orElseThrow().readPartitions();
    if (table.hasServer(lost) && random.nextBoolean()) {
      int heir = heir(table, random, lost);
      moves.indexes[heir].partitions().orElseThrow().takeOver(lost, heir);
      moves.refresh(heir);
    }
    moves.join(lost);
  }

  private static int heir(Partitioning table, SplittableRandom random, int lost) {
    int range = table.rangeOfServer(lost);
    List<Integer> heirs = new ArrayList<>();
    for (int number = 0; number < PROCESSES; number++) {
      boolean isBeside =
          !table.hasServer(number) || Math.abs(table.rangeOfServer(number) - range) == 1;
      if (number != lost && isBeside) {
        heirs.add(number);
      }
    }
    return heirs.get(random.nextInt(heirs.size()));
  }

  @Test
  void shouldHaveWhatWasFlushedWhereOneEndsAtAnyVerb() {
    long seed = Seeds.of(3401);
    int ends = 0;
    for (int run = 0; run < Seeds.count(20, 400, 20_000); run++) {
      SplittableRandom random = new SplittableRandom(seed + run);
      int cacheBytes = new int[] {0, 20_000, 1 << 20}[random.nextInt(3)];
      model.clear();
      possible.clear();
      try (ByteMoves moves = new ByteMoves(PROCESSES, 16 << 20, ByteMoves.options(cacheBytes))) {
        for (int i = 0; i < 8; i++) {
          moves.change(random, 3);
          change(moves, random, random.nextInt(60));
        }
        flush(moves);
        change(moves, random, random.nextInt(60));
        int lost = random.nextInt(PROCESSES);
        ends += end(moves, random, lost) ? 1 : 0;
        goOn(moves, random, lost);
        checkPossible(moves.all());
        for (int i = 0; i < 5; i++) {
          moves.change(random, 3);
          change(moves, random, 30);
        }
        checkModel(moves.all());
        int last = moves.gather();
        checkModel(moves.all());
        for (ByteIndex index : moves.indexes) {
          index.close();
        }
        moves.join(last);
        checkModel(moves.all());
      } catch (Throwable e) {
        throw new AssertionError("run=" + run, e);
      }
    }
    System.out.println(ends + " ends");
    assertThat(ends).isPositive();
  }
}
