package pando.baselines.suites;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;
import pando.baselines.deft.DeftOptions;
import pando.baselines.rolex.RolexOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.sherman.ShermanValidation;
import pando.fabric.Fabric;
import pando.index.IndexOptions;
import pando.index.Pools;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.SystemUnderTest;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/** What all options have in common. */
class OptionsTest {
  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldTakeSettingsInAnyOrder(SystemUnderTest system) {
    IndexOptions tiny = system.tiny(1).options();
    IndexOptions defaults = system.defaults().options().withComputeServers(1);
    IndexOptions other = defaults.withCacheBytes(tiny.cacheBytes()).withNodeBytes(tiny.nodeBytes());
    assertThat(other)
        .isEqualTo(defaults.withNodeBytes(tiny.nodeBytes()).withCacheBytes(tiny.cacheBytes()));
    try (Fabric fabric = Pools.open(1, 8 << 20, 1);
        RangeIndex index = other.create(fabric);
        Session session = index.session()) {
      assertThat(session.put(1, 2)).isFalse();
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldBeCheckedWhereAnIndexIsMade(SystemUnderTest system) {
    IndexOptions options = system.defaults().options();
    IndexOptions wrong = options.withCacheBytes(options.cacheBytesMin() - 1);
    options.withCacheBytes(options.cacheBytesMin()).check();
    String complaint = "cache-bytes is out of range: value=" + wrong.cacheBytes();
    assertThatIllegalArgumentException().isThrownBy(wrong::check).withMessageContaining(complaint);
    try (Fabric fabric = Pools.open(1, 8 << 20, 1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> wrong.create(fabric))
          .withMessageContaining(complaint);
      assertThatIllegalArgumentException()
          .isThrownBy(() -> wrong.join(fabric, 0, 1))
          .withMessageContaining(complaint);
    }
  }

  @ParameterizedTest
  @FieldSource("pando.index.SystemUnderTest#ALL")
  void shouldHaveAMethodForEachTechnique(SystemUnderTest system) {
    IndexOptions options = system.defaults().options();
    for (var setting : options.documentation().entrySet()) {
      if (!setting.getValue().contains("(off, on; ")) {
        continue;
      }
      String method = "with" + setting.getKey().replace("-", "");
      assertThat(Arrays.stream(options.getClass().getMethods()).map(Method::getName))
          .as(setting.getKey())
          .anyMatch(name -> name.regionMatches(true, 0, method, 0, method.length()));
    }
  }

  @Test
  void shouldBeTheSameByMethodAndByName() {
    assertThat(DexOptions.defaults().withCaching(false).withNodeBytes(512))
        .isEqualTo(DexOptions.defaults().with("caching", "off").with("node-bytes", "512"));
    assertThat(
            ShermanOptions.sherman().withValidation(ShermanValidation.CHECKSUM).withCombine(false))
        .isEqualTo(ShermanOptions.sherman().with("validation", "checksum").with("combine", "off"));
    assertThat(DeftOptions.defaults().withValidation(pando.baselines.deft.DeftValidation.VERSIONS))
        .isEqualTo(DeftOptions.defaults().with("validation", "versions"));
    assertThat(RolexOptions.rolex().withWritesByCall(true))
        .isEqualTo(RolexOptions.rolex().with("writes", "call"));
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "40us, 40000", "250ms, 250000000", "2s, 2000000000", "7ns, 7"})
  void shouldTakeDurations(String text, long nanos) {
    OrcaOptions options = OrcaOptions.defaults().with("write-back-interval", text);
    assertThat(options.writeBackNanos()).isEqualTo(nanos);
    assertThat(options.toString()).contains("write-back-interval=" + text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "-1s", "1m", "s", "2h", "1e3s", "4000s"})
  void shouldRefuseWhatIsNoDuration(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DexOptions.defaults().with("write-back-interval", text))
        .withMessageContaining("write-back-interval");
  }

  @Test
  void shouldRefuseValuesOutOfRange() {
    Stream.<Runnable>of(
            () -> DexOptions.defaults().with("admission", "1.1"),
            () -> DexOptions.defaults().with("admission", "NaN"),
            () -> DexOptions.defaults().with("subtree-level", "32"),
            () -> ShermanOptions.sherman().with("handovers", "-1"),
            () -> DeftOptions.defaults().with("merged-share", "0.2"),
            () -> DeftOptions.defaults().withNodeBytes(-1),
            () -> RolexOptions.rolex().with("delta", "61"),
            () -> RolexOptions.rolex().with("leaves-max", "64"),
            () -> RolexOptions.rolex().withCacheBytes(-1))
        .forEach(wrong ->
            assertThatIllegalArgumentException()
                .isThrownBy(wrong::run)
                .withMessageContainingAll("is out of range: value=", "least=", "greatest="));
  }

  @Test
  void shouldRefuseWhatDoesNotGoTogether() {
    assertThatIllegalArgumentException()
        .isThrownBy(() ->
            DexOptions.defaults().with("merge-share", "0.8").with("merged-share", "0.7").check())
        .withMessageContainingAll("merge-share=0.8", "merged-share=0.7");
  }
}
