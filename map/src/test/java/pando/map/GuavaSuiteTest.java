package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.testing.ConcurrentNavigableMapTestSuiteBuilder;
import com.google.common.collect.testing.SampleElements;
import com.google.common.collect.testing.TestSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.MapFeature;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Stream;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import pando.index.Seeds;
import pando.index.SystemUnderTest;

/** Guava's tests of any concurrent navigable map, and of its views, and of their views. */
@Timeout(600)
class GuavaSuiteTest {
  private static final int TESTS_MIN = 10_000;

  /**
   * In a campaign each system with all sets of keys; else each with one, and XStore-D, whose writes
   * are CALLs, with none.
   */
  static Stream<Arguments> runs() {
    List<Arguments> runs = new ArrayList<>();
    KeySample[] samples = KeySample.values();
    for (SystemUnderTest system : SystemUnderTest.ALL) {
      int samplesOfSystem = system == SystemUnderTest.XSTORE_D ? 0 : 1;
      for (int i = 0; i < Seeds.count(samplesOfSystem, samples.length); i++) {
        runs.add(Arguments.of(system, samples[runs.size() % samples.length]));
      }
    }
    return runs.stream();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void shouldPassAllTests(SystemUnderTest system, KeySample sample) {
    try (OpenMap<Long, Long> open = OpenMap.of(system)) {
      TestSuite suite =
          ConcurrentNavigableMapTestSuiteBuilder.using(new Generator(open.map(), sample))
              .named(system + " " + sample)
              .withFeatures(
                  MapFeature.GENERAL_PURPOSE,
                  CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
                  CollectionFeature.KNOWN_ORDER,
                  CollectionSize.ANY)
              .createTestSuite();
      TestResult result = new TestResult();
      suite.run(result);
      List<String> failures = new ArrayList<>();
      Collections.list(result.failures()).forEach(each -> failures.add(text(each)));
      Collections.list(result.errors()).forEach(each -> failures.add(text(each)));
      System.out.println(system + " " + sample + ": tests=" + result.runCount());
      assertThat(failures).isEmpty();
      assertThat(result.runCount()).isGreaterThan(TESTS_MIN);
    }
  }

  private static String text(TestFailure failure) {
    return failure + "\n" + failure.trace();
  }

  /** Fills the one map anew for each test. */
  private record Generator(PandoMap<Long, Long> map, KeySample sample)
      implements TestSortedMapGenerator<Long, Long> {
    private Map.Entry<Long, Long> entry(Long key) {
      return Map.entry(key, ~key);
    }

    @Override
    public SampleElements<Map.Entry<Long, Long>> samples() {
      return new SampleElements<>(
          entry(sample.sample(0)),
          entry(sample.sample(1)),
          entry(sample.sample(2)),
          entry(sample.sample(3)),
          entry(sample.sample(4)));
    }

    @Override
    @SuppressWarnings("unchecked") // These are entries of the kind that samples returns.
    public SortedMap<Long, Long> create(Object... elements) {
      map.clear();
      for (Object element : elements) {
        Map.Entry<Long, Long> entry = (Map.Entry<Long, Long>) element;
        map.put(entry.getKey(), entry.getValue());
      }
      return map;
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"}) // There is no other array of entries.
    public Map.Entry<Long, Long>[] createArray(int length) {
      return new Map.Entry[length];
    }

    @Override
    public Long[] createKeyArray(int length) {
      return new Long[length];
    }

    @Override
    public Long[] createValueArray(int length) {
      return new Long[length];
    }

    @Override
    public Iterable<Map.Entry<Long, Long>> order(List<Map.Entry<Long, Long>> insertionOrder) {
      insertionOrder.sort(Map.Entry.comparingByKey());
      return insertionOrder;
    }

    @Override
    public Map.Entry<Long, Long> belowSamplesLesser() {
      return entry(sample.below(0));
    }

    @Override
    public Map.Entry<Long, Long> belowSamplesGreater() {
      return entry(sample.below(1));
    }

    @Override
    public Map.Entry<Long, Long> aboveSamplesLesser() {
      return entry(sample.above(0));
    }

    @Override
    public Map.Entry<Long, Long> aboveSamplesGreater() {
      return entry(sample.above(1));
    }
  }
}
