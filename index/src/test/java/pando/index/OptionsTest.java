package pando.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import pando.fabric.Fabric;
import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.rolex.RolexOptions;
import pando.index.sherman.ShermanOptions;
import pando.index.sherman.Validation;

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
  void shouldHaveAMethodForEachSetting(SystemUnderTest system) {
    IndexOptions options = system.defaults().options();
    for (String setting : options.documentation().keySet()) {
      String method = "with" + setting.replace("-", "");
      assertThat(Arrays.stream(options.getClass().getMethods()).map(Method::getName))
          .as(setting)
          .anyMatch(name -> name.regionMatches(true, 0, method, 0, method.length()));
    }
  }

  @Test
  void shouldBeTheSameByMethodAndByName() {
    assertThat(DexOptions.defaults().withAdmission(0.3).withCaching(false).withSamples(7))
        .isEqualTo(
            DexOptions.defaults()
                .with("admission", "0.3")
                .with("caching", "off")
                .with("samples", "7"));
    assertThat(ShermanOptions.sherman().withValidation(Validation.CHECKSUM).withHandovers(0))
        .isEqualTo(ShermanOptions.sherman().with("validation", "checksum").with("handovers", "0"));
    assertThat(
            DeftOptions.defaults()
                .withValidation(pando.index.deft.Validation.VERSIONS)
                .withLockWaitMillis(7))
        .isEqualTo(
            DeftOptions.defaults().with("validation", "versions").with("lock-wait-millis", "7"));
    assertThat(RolexOptions.rolex().withWritesByCall(true).withSynonymShare(0.5))
        .isEqualTo(RolexOptions.rolex().with("writes", "call").with("synonym-share", "0.5"));
  }

  @Test
  void shouldRefuseValuesOutOfRange() {
    Stream.<Runnable>of(
            () -> DexOptions.defaults().withAdmission(1.1),
            () -> DexOptions.defaults().withAdmission(Double.NaN),
            () -> DexOptions.defaults().withSubtreeLevel(32),
            () -> ShermanOptions.sherman().withHandovers(-1),
            () -> DeftOptions.defaults().withMergedShare(0.2),
            () -> DeftOptions.defaults().withNodeBytes(-1),
            () -> RolexOptions.rolex().withDelta(61),
            () -> RolexOptions.rolex().withLeavesMax(64),
            () -> RolexOptions.rolex().withCacheBytes(-1))
        .forEach(wrong ->
            assertThatIllegalArgumentException()
                .isThrownBy(wrong::run)
                .withMessageContainingAll("is out of range: value=", "least=", "greatest="));
  }

  @Test
  void shouldRefuseWhatDoesNotGoTogether() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DexOptions.defaults().withMergeShare(0.8).withMergedShare(0.7).check())
        .withMessageContainingAll("merge-share=0.8", "merged-share=0.7");
  }
}
