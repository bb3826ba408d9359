package pando.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import pando.bench.records.Records;

final class OperationStreamTest {
  private static final long LOADED = 1_000;
  private static final int BATCHES = 400;

  private final Records records = new Records(9);

  @ParameterizedTest
  @EnumSource
  void shouldMixOperationsAsThePaperSays(Workload workload) {
    Map<Operation, Integer> counts = new EnumMap<>(Operation.class);
    for (Drawn drawn : draw(workload, new Inserts(LOADED, 1, 0, 1), 0, key -> true)) {
      counts.merge(drawn.operation, 1, Integer::sum);
    }
    Map<Operation, Integer> expected =
        switch (workload) {
          case READ_ONLY -> Map.of(Operation.LOOKUP, 100);
          case READ_INTENSIVE -> Map.of(Operation.LOOKUP, 95, Operation.UPDATE, 5);
          case WRITE_INTENSIVE -> Map.of(Operation.LOOKUP, 50, Operation.UPDATE, 50);
          case INSERT_INTENSIVE -> Map.of(Operation.LOOKUP, 50, Operation.INSERT, 50);
          case SCAN_INTENSIVE -> Map.of(Operation.SCAN, 95, Operation.INSERT, 5);
          case INSERT_ONLY -> Map.of(Operation.INSERT, 100);
          case READ_INTENSIVE_2 -> Map.of(Operation.LOOKUP, 95, Operation.INSERT, 5);
          case WRITE_ONLY -> Map.of(Operation.UPDATE, 100);
        };
    assertThat(counts.keySet()).isEqualTo(expected.keySet());
    counts.forEach((operation, count) ->
        assertThat(100.0 * count / (BATCHES * Batch.CAPACITY))
            .isCloseTo(expected.getOrDefault(operation, 0), within(0.8)));
  }

  @Test
  void shouldRepeatItselfForTheSameSeedAndClientAlone() {
    List<Drawn> once = draw(Workload.WRITE_INTENSIVE, new Inserts(LOADED, 2, 0, 2), 0, key -> true);
    List<Drawn> again =
        draw(Workload.WRITE_INTENSIVE, new Inserts(LOADED, 2, 0, 2), 0, key -> true);
    List<Drawn> other =
        draw(Workload.WRITE_INTENSIVE, new Inserts(LOADED, 2, 0, 2), 1, key -> true);
    assertThat(again).isEqualTo(once);
    assertThat(other).isNotEqualTo(once);
  }

  @Test
  void shouldInsertEachNewRecordOnce() {
    Inserts inserts = new Inserts(LOADED, 3, 1, 2);
    Set<Long> inserted = new HashSet<>();
    for (int client = 1; client <= 2; client++) {
      for (Drawn drawn : draw(Workload.INSERT_ONLY, inserts, client, key -> true)) {
        assertThat(inserted.add(drawn.record)).isTrue();
        assertThat((drawn.record - LOADED) % 3).isEqualTo(client);
        assertThat(inserts.mayExist(drawn.record)).isTrue();
      }
    }
    long next = LOADED + 3L * BATCHES * Batch.CAPACITY;
    assertThat(inserts.mayExist(next)).as("client 0 is in another process").isTrue();
    assertThat(inserts.mayExist(next + 1)).isFalse();
    assertThat(inserts.mayExist(next + 2)).isFalse();
    assertThat(inserts.mayExist(-1)).isFalse();
    assertThat(inserts.mayExist(LOADED - 1)).isTrue();
  }

  @Test
  void shouldOnlyAskForKeysOfItsOwn() {
    Inserts inserts = new Inserts(LOADED, 1, 0, 1);
    for (Drawn drawn : draw(Workload.INSERT_INTENSIVE, inserts, 0, key -> key < 0)) {
      assertThat(drawn.key).isNegative().isEqualTo(records.key(drawn.record));
    }
  }

  private record Drawn(Operation operation, long record, long key) {}

  private List<Drawn> draw(Workload workload, Inserts inserts, int client, LongPredicate owned) {
    OperationStream stream =
        new OperationStream(
            workload, Distribution.ZIPFIAN.over(LOADED, 0.99), records, inserts, owned, client);
    List<Drawn> drawn = new ArrayList<>();
    Batch batch = new Batch();
    for (int i = 0; i < BATCHES; i++) {
      stream.fill(batch, Batch.CAPACITY);
      for (int j = 0; j < batch.size(); j++) {
        drawn.add(new Drawn(batch.operation(j), batch.record(j), batch.key(j)));
      }
    }
    return drawn;
  }
}
