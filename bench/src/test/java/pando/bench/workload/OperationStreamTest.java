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
    Map<WorkloadOperation, Integer> counts = new EnumMap<>(WorkloadOperation.class);
    for (Drawn drawn : draw(workload, new Inserts(LOADED, 1, 0, 1), 0, key -> true)) {
      counts.merge(drawn.operation, 1, Integer::sum);
    }
    Map<WorkloadOperation, Integer> expected =
        switch (workload) {
          case READ_ONLY -> Map.of(WorkloadOperation.LOOKUP, 100);
          case READ_INTENSIVE -> Map.of(WorkloadOperation.LOOKUP, 95, WorkloadOperation.UPDATE, 5);
          case WRITE_INTENSIVE ->
              Map.of(WorkloadOperation.LOOKUP, 50, WorkloadOperation.UPDATE, 50);
          case INSERT_INTENSIVE ->
              Map.of(WorkloadOperation.LOOKUP, 50, WorkloadOperation.INSERT, 50);
          case SCAN_INTENSIVE -> Map.of(WorkloadOperation.SCAN, 95, WorkloadOperation.INSERT, 5);
          case INSERT_ONLY -> Map.of(WorkloadOperation.INSERT, 100);
          case STORE_ONLY, MULTI_PUT -> Map.of(WorkloadOperation.STORE, 100);
          case SCAN_UPDATE -> Map.of(WorkloadOperation.SCAN, 50, WorkloadOperation.UPDATE, 50);
          case MULTI_GET -> Map.of(WorkloadOperation.LOOKUP, 100);
          case READ_INTENSIVE_2 ->
              Map.of(WorkloadOperation.LOOKUP, 95, WorkloadOperation.INSERT, 5);
          case WRITE_ONLY -> Map.of(WorkloadOperation.UPDATE, 100);
          case YCSB_D -> Map.of(WorkloadOperation.LOOKUP, 95, WorkloadOperation.INSERT, 5);
          case YCSB_E -> Map.of(WorkloadOperation.SCAN, 95, WorkloadOperation.INSERT, 5);
          case YCSB_F -> Map.of(WorkloadOperation.LOOKUP, 50, WorkloadOperation.MODIFY, 50);
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

  @Test
  void shouldScanAsManyRecordsAsTheWorkloadSays() {
    int[] counts = new int[Workload.SCAN_LENGTH_MAX + 1];
    for (Drawn drawn : draw(Workload.YCSB_E, new Inserts(LOADED, 1, 0, 1), 0, key -> true)) {
      counts[drawn.length]++;
    }
    // Some 970 scans of each length; 6 standard deviations.
    for (int length = 1; length <= Workload.SCAN_LENGTH_MAX; length++) {
      assertThat(counts[length]).as("length=" + length).isBetween(780, 1_160);
    }
    for (Drawn drawn :
        draw(Workload.SCAN_INTENSIVE, new Inserts(LOADED, 1, 0, 1), 0, key -> true)) {
      assertThat(drawn.length).isEqualTo(drawn.operation == WorkloadOperation.SCAN ? 100 : 0);
    }
  }

  @Test
  void shouldLookUpTheLatestOfWhatWasInsertedBefore() {
    Distribution distribution = Workload.YCSB_D.distribution(Distribution.UNIFORM);
    Distribution.Draw draw = distribution.over(LOADED, 0.99);
    Inserts inserts = new Inserts(LOADED, 2, 0, 2);
    OperationStream other = stream(Workload.YCSB_D, draw, inserts, 1, key -> true);
    OperationStream stream = stream(Workload.YCSB_D, draw, inserts, 0, key -> true);
    Batch others = new Batch();
    Batch batch = new Batch();
    Set<Long> there = new HashSet<>();
    long inserted = 0;
    for (int i = 0; i < BATCHES; i++) {
      other.fill(others, Batch.CAPACITY);
      addInserts(others, there);
      // What the other has drawn last is not there yet.
      other.fill(others, 0);
      stream.fill(batch, Batch.CAPACITY);
      for (int j = 0; j < batch.size(); j++) {
        boolean isNew = batch.record(j) >= LOADED;
        if (batch.operation(j) == WorkloadOperation.LOOKUP && isNew) {
          // Of a set itself, the assertion would look at each element.
          assertThat(there.contains(batch.record(j))).isTrue();
          inserted++;
        }
      }
      addInserts(batch, there);
    }
    assertThat(inserted).isGreaterThan(BATCHES * Batch.CAPACITY * 8 / 10);
  }

  private static void addInserts(Batch batch, Set<Long> records) {
    for (int i = 0; i < batch.size(); i++) {
      if (batch.operation(i) == WorkloadOperation.INSERT) {
        records.add(batch.record(i));
      }
    }
  }

  private record Drawn(WorkloadOperation operation, long record, long key, int length) {}

  private List<Drawn> draw(Workload workload, Inserts inserts, int client, LongPredicate owned) {
    OperationStream stream =
        stream(workload, Distribution.ZIPFIAN.over(LOADED, 0.99), inserts, client, owned);
    List<Drawn> drawn = new ArrayList<>();
    Batch batch = new Batch();
    for (int i = 0; i < BATCHES; i++) {
      stream.fill(batch, Batch.CAPACITY);
      for (int j = 0; j < batch.size(); j++) {
        drawn.add(new Drawn(batch.operation(j), batch.record(j), batch.key(j), batch.length(j)));
      }
    }
    return drawn;
  }

  private OperationStream stream(
      Workload workload,
      Distribution.Draw distribution,
      Inserts inserts,
      int client,
      LongPredicate owned) {
    return new OperationStream(workload, distribution, records, inserts, owned, client);
  }
}
