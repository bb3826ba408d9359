package pando.index.settings;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** One setting: its name, the kind of its values, its default, its range, and its meaning. */
public final class Setting {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})\\s*([KMGT]i?)?B?");
  private static final Pattern DURATION =
      Pattern.compile("(\\d{1,15}(?:\\.\\d{1,9})?)\\s*(ns|us|ms|s)");
  private static final List<String> FLAG = List.of("off", "on");

  private static final double NANOS_OF_SECOND = 1e9;

  private final String name;
  private final Kind kind;
  private final String initial;
  private final double min;
  private final double max;
  private final List<String> choices;
  private final String meaning;

  private enum Kind {
    SIZE,
    DURATION,
    INTEGER,
    NUMBER,
    CHOICE
  }

  private Setting(
      String name,
      Kind kind,
      String initial,
      double min,
      double max,
      List<String> choices,
      String meaning) {
    this.name = name;
    this.kind = kind;
    this.initial = initial;
    this.min = min;
    this.max = max;
    this.choices = choices;
    this.meaning = meaning;
  }

  /** Makes a setting that takes bytes, such as {@code 64KiB}. */
  public static Setting size(String name, String initial, double max, String meaning) {
    return new Setting(name, Kind.SIZE, initial, 0, max, List.of(), meaning);
  }

  /**
   * Makes a setting that takes a duration, such as {@code 250ms} or 0; its value is in nanoseconds.
   */
  public static Setting duration(String name, String initial, double maxNanos, String meaning) {
    return new Setting(name, Kind.DURATION, initial, 0, maxNanos, List.of(), meaning);
  }

  /** Makes a setting that takes a whole number; {@link #meaning(String)} explains it. */
  public static Setting integer(String name, String initial, int min, int max) {
    return new Setting(name, Kind.INTEGER, initial, min, max, List.of(), "");
  }

  /** Makes a setting that takes a number; {@link #meaning(String)} explains it. */
  public static Setting number(String name, String initial, double min, double max) {
    return new Setting(name, Kind.NUMBER, initial, min, max, List.of(), "");
  }

  /** Returns this setting with an explanation. */
  public Setting meaning(String text) {
    return new Setting(name, kind, initial, min, max, choices, text);
  }

  /** Makes a setting that is {@code on} or {@code off}. */
  public static Setting flag(String name, String initial, String meaning) {
    return choice(name, initial, FLAG, meaning);
  }

  /** Makes a setting that takes one of several words; its value is the index of the word. */
  public static Setting choice(String name, String initial, List<String> choices, String meaning) {
    return new Setting(name, Kind.CHOICE, initial, 0, choices.size() - 1, choices, meaning);
  }

  /** Makes a setting that takes one of the constants of an enum; its value is the index. */
  public static <E extends Enum<E>> Setting choice(String name, E initial, String meaning) {
    E[] constants = initial.getDeclaringClass().getEnumConstants();
    List<String> choices = Stream.of(constants).map(Enum::toString).toList();
    return choice(name, initial.toString(), choices, meaning);
  }

  /** Returns the name. */
  public String name() {
    return name;
  }

  /** Returns a description: the meaning, the legal values, and {@code value} as the default. */
  String describe(double value) {
    String current = value == initial() ? initial : print(value);
    return meaning + " (" + range() + "default " + current + ")";
  }

  private String range() {
    return switch (kind) {
      case SIZE, DURATION -> "";
      case INTEGER, NUMBER -> plain(min) + " to " + plain(max) + ", ";
      case CHOICE -> String.join(", ", choices) + "; ";
    };
  }

  double initial() {
    return parse(initial);
  }

  /**
   * Reads a value.
   *
   * @throws IllegalArgumentException if the text is not a legal value
   */
  public double parse(String value) {
    try {
      return switch (kind) {
        case SIZE -> parseSize(value);
        case DURATION -> parseDuration(value);
        case INTEGER -> Integer.parseInt(value);
        case NUMBER -> Double.parseDouble(value);
        case CHOICE -> parseChoice(value);
      };
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "setting " + name + " takes " + expected() + ": value=" + value, e);
    }
  }

  private String expected() {
    return switch (kind) {
      case SIZE -> "a size such as 1024, 20MB (20 million), 64KiB (64 times 1024) or 2GiB";
      case DURATION -> "a duration such as 0, 250ms or 2s";
      case INTEGER -> "a whole number";
      case NUMBER -> "a number";
      case CHOICE -> "one of " + String.join(", ", choices);
    };
  }

  private double parseChoice(String value) {
    int index = choices.indexOf(value);
    if (index < 0) {
      throw new NumberFormatException(value);
    }
    return index;
  }

  private static double parseSize(String value) {
    Matcher matcher = SIZE.matcher(value);
    if (!matcher.matches()) {
      throw new NumberFormatException(value);
    }
    String unit = matcher.group(2) == null ? "" : matcher.group(2).toUpperCase(Locale.ROOT);
    double base = unit.endsWith("I") ? 1024 : 1000;
    int power = unit.isEmpty() ? 0 : "KMGT".indexOf(unit.charAt(0)) + 1;
    return Long.parseLong(matcher.group(1)) * Math.pow(base, power);
  }

  private static double parseDuration(String value) {
    if (value.equals("0")) {
      return 0;
    }
    Matcher matcher = DURATION.matcher(value);
    if (!matcher.matches()) {
      throw new NumberFormatException(value);
    }
    return Double.parseDouble(matcher.group(1)) * unitNanos(matcher.group(2));
  }

  void check(double value) {
    checkAtLeast(value, min);
  }

  /**
   * Checks a value against a lower bound that depends on other settings.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public void checkAtLeast(double value, double least) {
    if (!(value >= least && value <= max)) {
      throw new IllegalArgumentException(
          "setting %s is out of range: value=%s, least=%s, greatest=%s"
              .formatted(name, plain(value), plain(least), plain(max)));
    }
  }

  String print(double value) {
    return switch (kind) {
      case CHOICE -> choices.get((int) value);
      case DURATION -> printDuration(value);
      case SIZE, INTEGER, NUMBER -> plain(value);
    };
  }

  private static String printDuration(double nanos) {
    String unit =
        nanos % NANOS_OF_SECOND == 0
            ? "s"
            : nanos % 1e6 == 0 ? "ms" : nanos % 1e3 == 0 ? "us" : "ns";
    return nanos == 0 ? "0" : plain(nanos / unitNanos(unit)) + unit;
  }

  private static double unitNanos(String unit) {
    return switch (unit) {
      case "s" -> NANOS_OF_SECOND;
      case "ms" -> NANOS_OF_SECOND / 1e3;
      case "us" -> NANOS_OF_SECOND / 1e6;
      default -> 1;
    };
  }

  /** Returns the words that it takes, but for the one of a value; nothing if it takes numbers. */
  List<String> wordsBut(double value) {
    return choices.stream().filter(word -> choices.indexOf(word) != value).toList();
  }

  private static String plain(double value) {
    return value == Math.rint(value)
        ? String.format(Locale.ROOT, "%.0f", value)
        : String.valueOf(value);
  }
}
