package pando.index.settings;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/** Values of settings, each within its own range. Immutable. */
public final class Settings {
  private final Map<Setting, Double> values;

  private Settings(Map<Setting, Double> values) {
    this.values = values;
  }

  /** Returns the defaults. */
  public static Settings of(List<Setting> settings) {
    Map<Setting, Double> values = new LinkedHashMap<>();
    settings.forEach(setting -> values.put(setting, setting.initial()));
    return new Settings(values);
  }

  /**
   * Returns these values with one changed.
   *
   * @throws IllegalArgumentException if no setting has this name, or the value is not legal for it
   */
  public Settings with(String name, String value) {
    Setting setting = named(name);
    return with(setting, setting.parse(value));
  }

  /**
   * Returns these values with one changed.
   *
   * @param value a number, or the index of a word among the setting's choices @throws
   *     IllegalArgumentException if the value is out of range
   */
  Settings with(Setting setting, double value) {
    setting.check(value);
    Map<Setting, Double> changed = new LinkedHashMap<>(values);
    changed.put(setting, value);
    return new Settings(changed);
  }

  Setting named(String name) {
    StringJoiner known = new StringJoiner(", ");
    for (Setting setting : values.keySet()) {
      if (setting.name().equals(name)) {
        return setting;
      }
      known.add(setting.name());
    }
    throw new IllegalArgumentException("no such setting: name=" + name + ", known=" + known);
  }

  /** Returns a value: a number, or the index of a word among the setting's choices. */
  public double number(Setting setting) {
    Double value = values.get(setting);
    if (value == null) {
      throw new IllegalArgumentException("no such setting here: name=" + setting.name());
    }
    return value;
  }

  /** Returns the constant of an enum that a setting has. */
  public <E extends Enum<E>> E choice(Setting setting, Class<E> type) {
    return type.getEnumConstants()[(int) number(setting)];
  }

  /** Returns whether a flag is on. */
  public boolean isOn(Setting flag) {
    return number(flag) == 1;
  }

  /** Returns a description of each setting by name, with its current value as the default. */
  public Map<String, String> documentation() {
    Map<String, String> documentation = new LinkedHashMap<>();
    values.forEach((setting, value) -> documentation.put(setting.name(), setting.describe(value)));
    return documentation;
  }

  /** Returns each setting that takes one of several words, with the words that it does not have. */
  public Map<String, List<String>> otherWords() {
    Map<String, List<String>> others = new LinkedHashMap<>();
    values.forEach((setting, value) -> {
      List<String> words = setting.wordsBut(value);
      if (!words.isEmpty()) {
        others.put(setting.name(), words);
      }
    });
    return others;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Settings settings && values.equals(settings.values);
  }

  @Override
  public int hashCode() {
    return values.hashCode();
  }

  /** Returns every setting as {@code name=value}. */
  @Override
  public String toString() {
    StringJoiner text = new StringJoiner(", ", "[", "]");
    values.forEach((setting, value) -> text.add(setting.name() + "=" + setting.print(value)));
    return text.toString();
  }
}
