package pando.index;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleSupplier;

/**
 * What meters read, by their names and tags, such as {@code pando.tasks task merge outcome done}.
 */
public final class MeterReadings implements Meters {
  private final Map<String, Double> readings = new LinkedHashMap<>();

  private MeterReadings() {}

  /** Reads all meters, each of which must have another name or other tags. */
  public static Map<String, Double> of(Metered metered) {
    MeterReadings all = new MeterReadings();
    metered.meters(all);
    return all.readings;
  }

  @Override
  public void count(String name, String meaning, DoubleSupplier number, String... tags) {
    String id = tags.length == 0 ? name : name + " " + String.join(" ", tags);
    if (readings.put(id, number.getAsDouble()) != null) {
      throw new AssertionError("two meters are the same: " + id);
    }
  }

  @Override
  public void gauge(String name, String meaning, DoubleSupplier number, String... tags) {
    count(name, meaning, number, tags);
  }

  @Override
  public void slowGauge(String name, String meaning, DoubleSupplier number, String... tags) {
    count(name, meaning, number, tags);
  }
}
