package pando.bench.btree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.bench.records.Records;
import pando.bench.records.SortedRecords;
import pando.bench.subject.Access;

final class BTreeTest {
  private final Records records = new Records(1);

  @ParameterizedTest
  @CsvSource({
    "0, 0.7",
    "1, 0.7",
    "63, 1",
    "64, 1",
    "44, 0.7",
    "45, 0.7",
    "5000, 0.01",
    "300000, 0.7"
  })
  void shouldLoadAnyNumberOfRecords(int count, double fill) {
    try (BTreeSubject tree = new BTreeSubject(64 << 20)) {
      tree.load(new SortedRecords(records, count, steps -> {}), fill);
      try (Access access = tree.access()) {
        for (int record = 0; record < count; record++) {
          long key = records.key(record);
          assertThat(access.get(key)).isTrue();
          assertThat(access.value()).isEqualTo(Records.value(key, 0));
        }
        assertThat(access.get(records.key(count))).isFalse();
        assertThat(countAll(access)).isEqualTo(count);
        assertThat(access.insert(records.key(count), 5)).isTrue();
        assertThat(countAll(access)).isEqualTo(count + 1);
      }
    }
  }

  @Test
  void shouldFillNodesAsAsked() {
    try (BTreeSubject tree = new BTreeSubject(64 << 20)) {
      tree.load(new SortedRecords(records, 440_000, steps -> {}), 0.7);
      // 44 records in a leaf, and 58 nodes below one more.
      assertThat(tree.bytes()).isBetween(10_000L * 1024, 10_200L * 1024);
    }
  }

  @Test
  void shouldLoseNothingWhenManyThreadsInsertAndRead() throws Exception {
    int threads = 4;
    int perThread = 100_000;
    try (BTreeSubject tree = new BTreeSubject(128 << 20);
        ExecutorService executor = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int thread = i;
        results.add(executor.submit(() -> insertAndRead(tree, thread, threads, perThread)));
      }
      for (Future<?> result : results) {
        result.get();
      }
      try (Access access = tree.access()) {
        assertThat(countAll(access)).isEqualTo((long) threads * perThread);
      }
    }
  }

  @Test
  void shouldSayThatItIsFull() {
    try (BTreeSubject tree = new BTreeSubject(8 * 1024);
        Access access = tree.access()) {
      assertThatIllegalStateException()
          .isThrownBy(() -> {
            for (int record = 0; record < 10_000; record++) {
              access.insert(records.key(record), 0);
            }
          })
          .withMessageContaining("bytes=8192");
    }
  }

  private void insertAndRead(BTreeSubject tree, int thread, int threads, int count) {
    try (Access access = tree.access()) {
      for (int i = 0; i < count; i++) {
        long key = records.key((long) i * threads + thread);
        assertThat(access.insert(key, key)).isTrue();
        assertThat(access.update(key, ~key)).isTrue();
        assertThat(access.value()).isEqualTo(key);
        long earlier = records.key((long) (i / 2) * threads + thread);
        assertThat(access.get(earlier)).isTrue();
        assertThat(access.value()).isEqualTo(~earlier);
        if (i % 100 == 0) {
          checkScan(access, earlier);
        }
      }
    }
  }

  private static void checkScan(Access access, long from) {
    long[] previous = {from - 1};
    access.scan(
        from,
        Long.MAX_VALUE,
        200,
        (key, value) -> {
          assertThat(key).isGreaterThan(previous[0]);
          assertThat(value).isIn(key, ~key);
          previous[0] = key;
          return true;
        });
    assertThat(previous[0]).isGreaterThanOrEqualTo(from);
  }

  private static long countAll(Access access) {
    return access.scan(Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, (key, value) -> true);
  }
}
