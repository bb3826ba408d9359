package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.stream.Stream;
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
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/**
 * The JSR-166 tests of skip list maps and their parts, over each system and byte strings, and of a
 * named map.
 */
@Timeout(600)
class Jsr166SuiteTest {
  static Stream<MapUnderTest> kinds() {
    return Stream.concat(
        MapUnderTest.BLOBS.stream(), Stream.of(MapUnderTest.BYTES, MapUnderTest.NAMED));
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
                    OpenMaps maps = new OpenMaps(kind);
                    return tests.equals(Parts.class) ? new Parts(maps) : new WholeMaps(maps);
                  }

                  @Override
                  protected void validateConstructor(List<Throwable> errors) {}
                }));
  }

  /** The maps that one test has opened. */
  private static final class OpenMaps {
    private final MapUnderTest kind;
    private final List<OpenMap<?, ?>> open = new ArrayList<>();

    OpenMaps(MapUnderTest kind) {
      this.kind = kind;
    }

    <V> ConcurrentNavigableMap<Integer, V> open(ValueCodec<V> values) {
      OpenMap<Integer, V> opened =
          kind.named()
              ? OpenMap.ofNamed(KeyCodec.ints(), values)
              : OpenMap.of(kind.system(), KeyCodec.ints(), values);
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
