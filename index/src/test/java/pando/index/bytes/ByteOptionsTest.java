package pando.index.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

/** Settings by name. */
class ByteOptionsTest {
  private static final ByteOptions DEFAULTS = ByteOptions.defaults();

  @Test
  void shouldTakeSettingsByName() {
    ByteOptions options =
        DEFAULTS
            .with("inline-max", "1000")
            .with("block-bytes", "16KiB")
            .with("cache-bytes", "1MiB")
            .with("record-share", "0.5")
            .with("delta-changes", "7")
            .with("write-back-interval", "250ms");
    options.check();
    assertThat(options.blockBytes()).isEqualTo(16 << 10);
    assertThat(options.inlineMax()).isEqualTo(1_000);
    assertThat(options.cacheBytes()).isEqualTo(1 << 20);
    assertThat(options.recordShare()).isEqualTo(0.5);
    assertThat(options.deltaChanges()).isEqualTo(7);
    assertThat(options.labels().writeBackNanos()).isEqualTo(250_000_000);
    assertThat(options)
        .isEqualTo(
            DEFAULTS
                .withBlockBytes(16 << 10, 1_000)
                .withCacheBytes(1 << 20)
                .withRecordShare(0.5)
                .withDeltaChanges(7)
                .withLabels(DEFAULTS.labels().withWriteBackNanos(250_000_000)))
        .isNotEqualTo(DEFAULTS);
  }

  @Test
  void shouldDescribeItsSettings() {
    assertThat(DEFAULTS.documentation().keySet())
        .containsExactly(
            "cache-bytes",
            "record-share",
            "block-bytes",
            "inline-max",
            "delta-changes",
            "write-back-interval");
    assertThat(DEFAULTS.with("block-bytes", "9000").documentation().get("block-bytes"))
        .contains("default 9000");
  }

  @Test
  void shouldRefuseWhatIsNoSettingOrOutOfRange() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.with("node-bytes", "1024"))
        .withMessageContaining("name=node-bytes")
        .withMessageContaining("block-bytes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.with("record-share", "1.5"))
        .withMessageContaining("value=1.5");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> DEFAULTS.with("block-bytes", "255"))
        .withMessageContaining("least=256");
    ByteOptions wide = DEFAULTS.with("inline-max", "4000");
    assertThatIllegalArgumentException()
        .isThrownBy(wide::check)
        .withMessageContaining("inline-max=4000, block-bytes=8000");
  }
}
