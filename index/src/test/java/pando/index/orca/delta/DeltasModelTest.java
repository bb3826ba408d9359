package pando.index.orca.delta;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Fabric;
import pando.index.Pools;
import pando.index.Seeds;
import pando.index.orca.parts.CacheParts;

/** Random changes of many deltas in little memory, compared with maps. */
@Timeout(300)
class DeltasModelTest {
  private static final int PARTS = 8;
  private static final int SLABS_OF_PART = 15;
  private static final int SLAB_BYTES = 4352;
  private static final int LEAVES = 160;
  private static final int KEYS = 400;
  private static final int STEPS = Seeds.count(100_000, 200_000, 20_000_000);

  private final Fabric fabric = Pools.open(1, 1 << 20, 1);
  private final CacheParts parts = CacheParts.of(fabric, PARTS, SLABS_OF_PART * SLAB_BYTES);
  private final Deltas deltas = new Deltas(parts);
  private final int[] blocks = new int[LEAVES];
  private final Model[] models = new Model[LEAVES];
  private int fullMemory;

  private record Change(long value, int kind) {}

  private static final class Model extends TreeMap<Long, Change> {
    private static final long serialVersionUID = 1L;
  }

  @AfterEach
  void close() {
    parts.close();
    fabric.close();
  }

  @Test
  void shouldHoldWhatTheModelsHold() {
    Random random = new Random(Seeds.of(21));
    IntStream.range(0, PARTS).forEach(deltas::add);
    for (int step = 0; step < STEPS; step++) {
      // Some leaves get most changes, so that all rooms are in use.
      int leaf = Math.min(random.nextInt(LEAVES), random.nextInt(LEAVES));
      long key = random.nextInt(KEYS) - 200L;
      if (blocks[leaf] == Deltas.NONE) {
        create(leaf);
      } else if (random.nextInt(2_000) == 0) {
        free(leaf);
      } else {
        change(leaf, key, random);
      }
    }
    assertThat(fullMemory).isPositive();
    for (int leaf = 0; leaf < LEAVES; leaf++) {
      if (blocks[leaf] != Deltas.NONE) {
        free(leaf);
      }
    }
    assertThat(deltas.bytesUsed()).isZero();
    int all = 0;
    while (deltas.create() != Deltas.NONE) {
      all++;
    }
    assertThat(all).as("no slab is lost").isEqualTo(PARTS * SLABS_OF_PART * (SLAB_BYTES / 96));
  }

  private void create(int leaf) {
    blocks[leaf] = deltas.create();
    models[leaf] = new Model();
    if (blocks[leaf] == Deltas.NONE) {
      fullMemory++;
      free(fullest());
      blocks[leaf] = deltas.create();
      assertThat(blocks[leaf]).as("what was freed can be used").isNotEqualTo(Deltas.NONE);
    }
    assertThat(deltas.count(blocks[leaf])).isZero();
  }

  private int fullest() {
    int fullest = 0;
    for (int leaf = 0; leaf < LEAVES; leaf++) {
      if (size(leaf) > size(fullest)) {
        fullest = leaf;
      }
    }
    return fullest;
  }

  private int size(int leaf) {
    return blocks[leaf] == Deltas.NONE ? -1 : models[leaf].size();
  }

  private void free(int leaf) {
    check(leaf);
    deltas.free(blocks[leaf]);
    blocks[leaf] = Deltas.NONE;
  }

  private void change(int leaf, long key, Random random) {
    int block = blocks[leaf];
    Model model = models[leaf];
    int index = deltas.find(block, key);
    assertThat(index >= 0).isEqualTo(model.containsKey(key));
    long value = random.nextLong();
    int kind = 1 + random.nextInt(3);
    if (index < 0) {
      assertThat(-1 - index).isEqualTo(model.headMap(key).size());
      insert(leaf, key, new Change(value, kind));
    } else if (random.nextInt(3) == 0) {
      deltas.remove(block, index);
      model.remove(key);
    } else {
      deltas.setValue(block, index, value);
      deltas.setKind(block, index, kind);
      model.put(key, new Change(value, kind));
    }
  }

  private void insert(int leaf, long key, Change change) {
    int block = blocks[leaf];
    int after = deltas.insert(block, key, change.value, change.kind);
    if (after == Deltas.NONE) {
      fullMemory++;
      free(leaf);
      return;
    }
    if (after != block) {
      check(leaf);
      deltas.free(block);
    }
    blocks[leaf] = after;
    models[leaf].put(key, change);
    assertThat(deltas.count(after)).isEqualTo(models[leaf].size());
  }

  private void check(int leaf) {
    int block = blocks[leaf];
    assertThat(deltas.count(block)).isEqualTo(models[leaf].size());
    int index = 0;
    for (Map.Entry<Long, Change> entry : models[leaf].entrySet()) {
      assertThat(deltas.key(block, index)).isEqualTo(entry.getKey());
      assertThat(new Change(deltas.value(block, index), deltas.kind(block, index)))
          .isEqualTo(entry.getValue());
      index++;
    }
  }
}
