package pando.map;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import pando.fabric.VerbCounters;
import pando.index.MeterReadings;
import pando.index.SystemUnderTest;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

class MapMetersTest {
  @Test
  void shouldCountValuesBesideTheIndex() {
    try (OpenMap<Long, String> open =
        OpenMap.of(SystemUnderTest.ORCA, KeyCodec.longs(), ValueCodec.strings())) {
      PandoMap<Long, String> map = open.map();
      assertThat(map.name()).isEqualTo("orca");
      map.put(1L, "a value of more than 7 bytes");
      VerbCounters before = map.verbs();
      assertThat(map.get(1L)).hasSize(28);
      VerbCounters after = map.verbs();
      long beside = after.reads - open.index().verbs().reads;
      assertThat(beside).isPositive();
      assertThat(after.reads).isGreaterThan(before.reads);
      Map<String, Double> meters = MeterReadings.of(map);
      assertThat(meters).containsEntry("pando.ops", 2.0).containsKey("pando.cache.admissions");
      assertThat(meters.get("pando.value.bytes")).isGreaterThanOrEqualTo(28);
      map.clear();
      map.close();
      assertThat(MeterReadings.of(map)).containsEntry("pando.value.bytes", 0.0);
    }
  }

  @Test
  void shouldHaveTheMetersOfByteStrings() {
    try (OpenMap<String, String> open =
        OpenMap.of(null, KeyCodec.strings(), ValueCodec.strings())) {
      PandoMap<String, String> map = open.map();
      assertThat(map.name()).isEqualTo("byte-strings");
      for (int i = 0; i < 100; i++) {
        map.put("key" + i, "value" + i);
      }
      assertThat(MeterReadings.of(map))
          .containsEntry("pando.ops", 100.0)
          .doesNotContainKey("pando.value.bytes")
          .hasEntrySatisfying("pando.blocks", blocks -> assertThat(blocks).isGreaterThan(1));
      assertThat(map.isClosed()).isFalse();
      map.close();
      assertThat(map.isClosed()).isTrue();
      assertThat(MeterReadings.of(map)).containsEntry("pando.ops", 100.0);
    }
  }
}
