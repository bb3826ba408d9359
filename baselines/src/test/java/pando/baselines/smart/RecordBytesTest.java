package pando.baselines.smart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.Fabric;
import pando.index.Entries;
import pando.index.Pools;
import pando.index.Seeds;

/** A loaded record takes no more of the pool than the options say, whatever its neighbours. */
@Timeout(60)
class RecordBytesTest {
  @ParameterizedTest(name = "{0} records={1}")
  @CsvSource({
    "steps, 300",
    // About 1.8 records below each slot of the root: the most nodes with two children.
    "steps, 460",
    "steps, 3000",
    "whole, 300",
    "whole, 460",
    "whole, 3000",
  })
  void shouldTakeNoMore(String reserve, int records) {
    SmartOptions options = SmartOptions.smart().with("reserve", reserve);
    SplittableRandom random = new SplittableRandom(Seeds.of(records));
    NavigableMap<Long, Long> model = new TreeMap<>();
    while (model.size() < records) {
      model.put(random.nextLong(), 1L);
    }
    try (Fabric fabric = Pools.open(1, 16 << 20, 1);
        SmartIndex index = SmartIndex.create(fabric, options)) {
      long empty = index.poolBytes();
      index.bulkLoad(Entries.of(model), 1);
      long taken = (index.poolBytes() - empty) / records;
      assertThat(taken).isBetween(options.recordBytesMax() / 3L, (long) options.recordBytesMax());
    }
  }
}
