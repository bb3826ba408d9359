package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.testing.ConcurrentNavigableMapTestSuiteBuilder;
import com.google.common.collect.testing.SampleElements;
import com.google.common.collect.testing.TestSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.MapFeature;
import java.lang.reflect.Array;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Stream;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import junit.framework.TestSuite;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;
import pando.index.Seeds;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** Guava's tests of any concurrent navigable map, and of its views, and of their views. */
@Timeout(600)
class GuavaSuiteTest {
  private static final List<String> TEXTS =
      List.of("", "\0", "\0a", "a", "a".repeat(300), "ab", "b", "\uD83D\uDE00", "\uFFEE");

  private static final int TESTS_MIN = 10_000;

  /** In a campaign each system with all sets of keys; else ORCA with one. */
  static Stream<Arguments> runs() {
    List<Arguments> runs = new ArrayList<>();
    KeySample[] samples = KeySample.values();
    List<SystemUnderTest> systems =
        Seeds.isCampaign() ? SystemUnderTest.ALL : List.of(SystemUnderTest.ORCA);
    for (SystemUnderTest system : systems) {
      for (int i = 0; i < Seeds.count(1, samples.length); i++) {
        runs.add(Arguments.of(system, samples[runs.size() % samples.length]));
      }
    }
    return runs.stream();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void shouldPassAllTests(SystemUnderTest system, KeySample sample) {
    try (OpenMap<Long, Long> open = OpenMap.of(system)) {
      check(system + " " + sample, new Generator<>(open.map(), sample.keys(), key -> ~key));
    }
  }

  /** Over a client it takes ten times as long: in a campaign alone. */
  @Test
  @Tag("campaign")
  void shouldPassAllTestsByAClient() {
    try (OpenMap<Long, Long> open = OpenMap.ofClient(KeyCodec.longs(), ValueCodec.longs())) {
      check("client", new Generator<>(open.map(), KeySample.SMALL.keys(), key -> ~key));
    }
  }

  @Tag("campaign")
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldPassAllTestsWithTextsAsValues(SystemUnderTest system) {
    try (OpenMap<Long, String> open = OpenMap.of(system, KeyCodec.longs(), ValueCodec.strings())) {
      List<Long> keys = KeySample.SMALL.keys();
      check(system + " with texts", new Generator<>(open.map(), keys, key -> text(keys, key)));
      open.checkNoOrphans();
    }
  }

  @Tag("campaign")
  @Test
  void shouldPassAllTestsWithTextsAsKeys() {
    try (OpenMap<String, String> open =
        OpenMap.of(null, KeyCodec.strings(), ValueCodec.strings())) {
      check("texts", new Generator<>(open.map(), TEXTS, key -> text(TEXTS, key)));
      open.checkNoOrphans();
    }
  }

  @Test
  @Tag("campaign")
  void shouldPassAllTestsWithTextsByAClient() {
    try (OpenMap<String, String> open =
        OpenMap.ofByteClient(KeyCodec.strings(), ValueCodec.strings())) {
      check("texts by a client", new Generator<>(open.map(), TEXTS, key -> text(TEXTS, key)));
    }
  }

  @Test
  @Tag("campaign")
  void shouldPassAllTestsWithAName() {
    try (OpenMap<String, String> open = OpenMap.ofNamed(KeyCodec.strings(), ValueCodec.strings())) {
      check("named", new Generator<>(open.map(), TEXTS, key -> text(TEXTS, key)));
      open.checkNoOrphans();
    }
  }

  @Test
  @Tag("campaign")
  void shouldPassAllTestsWithANameByAClient() {
    try (OpenMap<Long, String> open =
        OpenMap.ofNamedByClient(KeyCodec.longs(), ValueCodec.strings())) {
      List<Long> keys = KeySample.ENDS.keys();
      check("named by a client", new Generator<>(open.map(), keys, key -> text(keys, key)));
    }
  }

  /** Returns another text for each key, of 1 to some hundred bytes. */
  private static <K> String text(List<K> keys, K key) {
    int place = keys.indexOf(key);
    return Integer.toString(place).repeat(1 + place * place * 5);
  }

  private static <K extends Comparable<K>, V> void check(String what, Generator<K, V> generator) {
    TestSuite suite =
        ConcurrentNavigableMapTestSuiteBuilder.using(generator)
            .named(what)
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
    System.out.println(what + ": tests=" + result.runCount());
    assertThat(failures).isEmpty();
    assertThat(result.runCount()).isGreaterThan(TESTS_MIN);
  }

  private static String text(TestFailure failure) {
    return failure + "\n" + failure.trace();
  }

  /**
   * Fills the one map anew for each test.
   *
   * @param keys nine in ascending order: two below five samples, and two above
   */
  private record Generator<K extends Comparable<K>, V>(
      PandoMap<K, V> map, List<K> keys, Function<K, V> values)
      implements TestSortedMapGenerator<K, V> {
    private Map.Entry<K, V> entry(int number) {
      K key = keys.get(number);
      return Map.entry(key, values.apply(key));
    }

    /** Returns samples that are not in the order of keys. */
    @Override
    public SampleElements<Map.Entry<K, V>> samples() {
      return new SampleElements<>(entry(3), entry(5), entry(2), entry(4), entry(6));
    }

    @Override
    @SuppressWarnings("unchecked") // These are entries of the kind that samples returns.
    public SortedMap<K, V> create(Object... elements) {
      map.clear();
      for (Object element : elements) {
        Map.Entry<K, V> entry = (Map.Entry<K, V>) element;
        map.put(entry.getKey(), entry.getValue());
      }
      return map;
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"}) // There is no other array of entries.
    public Map.Entry<K, V>[] createArray(int length) {
      return new Map.Entry[length];
    }

    @Override
    @SuppressWarnings("unchecked") // It is an array of the class of keys.
    public K[] createKeyArray(int length) {
      return (K[]) Array.newInstance(keys.getFirst().getClass(), length);
    }

    @Override
    @SuppressWarnings("unchecked") // It is an array of the class of values.
    public V[] createValueArray(int length) {
      return (V[]) Array.newInstance(entry(0).getValue().getClass(), length);
    }

    @Override
    public Iterable<Map.Entry<K, V>> order(List<Map.Entry<K, V>> insertionOrder) {
      insertionOrder.sort(Map.Entry.comparingByKey());
      return insertionOrder;
    }

    @Override
    public Map.Entry<K, V> belowSamplesLesser() {
      return entry(0);
    }

    @Override
    public Map.Entry<K, V> belowSamplesGreater() {
      return entry(1);
    }

    @Override
    public Map.Entry<K, V> aboveSamplesLesser() {
      return entry(7);
    }

    @Override
    public Map.Entry<K, V> aboveSamplesGreater() {
      return entry(8);
    }
  }
}
