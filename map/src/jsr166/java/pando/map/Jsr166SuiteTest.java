package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.After;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runners.BlockJUnit4ClassRunner;
import org.junit.runners.model.FrameworkMethod;
import org.junit.runners.model.InitializationError;
import org.mapdb.jsr166Tests.ConcurrentSkipListMapTest;
import org.mapdb.jsr166Tests.ConcurrentSkipListSubMapTest;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** The JSR-166 tests of skip list maps and their parts, over each system and byte strings. */
@Timeout(600)
class Jsr166SuiteTest {
  static Stream<MapUnderTest> kinds() {
    return Stream.concat(MapUnderTest.BLOBS.stream(), Stream.of(MapUnderTest.BYTES));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void shouldPassAllTests(MapUnderTest kind) throws InitializationError {
    Result maps = run(kind, WholeMaps.class);
    Result parts = run(kind, Parts.class);
    System.out.printf(
        "%s: maps=%d, failed=%d, parts=%d, failed=%d%n",
        kind,
        maps.getRunCount(),
        maps.getFailureCount(),
        parts.getRunCount(),
        parts.getFailureCount());
    List<String> failures = new ArrayList<>();
    Stream.of(maps, parts)
        .flatMap(result -> result.getFailures().stream())
        .forEach(failure -> failures.add(failure.getTestHeader() + "\n" + failure.getTrace()));
    assertThat(failures).isEmpty();
    assertThat(maps.getRunCount()).isGreaterThan(50);
    assertThat(parts.getRunCount()).isGreaterThan(80);
  }

  private static Result run(MapUnderTest kind, Class<?> tests) throws InitializationError {
    return new JUnitCore()
        .run(
            Request.runner(
                new BlockJUnit4ClassRunner(tests) {
                  @Override
                  protected Object createTest(FrameworkMethod method) {
                    OpenMaps maps = new OpenMaps(kind.system());
                    return tests.equals(Parts.class) ? new Parts(maps) : new WholeMaps(maps);
                  }

                  @Override
                  protected void validateConstructor(List<Throwable> errors) {}
                }));
  }

  /** The maps that one test has opened. */
  private static final class OpenMaps {
    private final @Nullable SystemUnderTest system;
    private final List<OpenMap<?, ?>> open = new ArrayList<>();

    OpenMaps(@Nullable SystemUnderTest system) {
      this.system = system;
    }

    <V> ConcurrentNavigableMap<Integer, V> open(ValueCodec<V> values) {
      OpenMap<Integer, V> opened = OpenMap.of(system, KeyCodec.ints(), values);
      open.add(opened);
      return opened.map();
    }

    void close() {
      open.forEach(OpenMap::close);
    }
  }

  /** Tests of maps. */
  public static final class WholeMaps extends ConcurrentSkipListMapTest {
    private final OpenMaps maps;

    WholeMaps(OpenMaps maps) {
      this.maps = maps;
    }

    @Override
    protected ConcurrentNavigableMap<Integer, String> emptyMap() {
      return maps.open(ValueCodec.strings());
    }

    @Override
    protected ConcurrentNavigableMap<Integer, Integer> emptyIntMap() {
      return maps.open(KeyCodec.ints());
    }

    /** Closes what the test has opened. */
    @After
    public void close() {
      maps.close();
    }
  }

  /** Tests of views. */
  public static final class Parts extends ConcurrentSkipListSubMapTest {
    private final OpenMaps maps;

    Parts(OpenMaps maps) {
      this.maps = maps;
    }

    @Override
    protected ConcurrentNavigableMap<Integer, String> emptyMap() {
      return maps.open(ValueCodec.strings());
    }

    /** Closes what the test has opened. */
    @After
    public void close() {
      maps.close();
    }
  }
}
