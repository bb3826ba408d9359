package pando.bench.page;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import pando.index.IndexSystem;
import pando.index.Systems;

/**
 * The colours: one for each system, in a light and a dark theme. Each stands out from the
 * background by a contrast of 3 at least, and from the others for eyes that do not see red from
 * green, too. Elements name theirs by a class, which sets {@code --c}.
 */
final class Palette {
  /** The class of what is no system. */
  static final String OTHER = "other";

  /** Two sets of colours. */
  enum Theme {
    LIGHT,
    DARK
  }

  /** A colour of the light theme, and its place in the dark one. */
  record Tone(String light, String dark) {
    String in(Theme theme) {
      return theme == Theme.LIGHT ? light : dark;
    }
  }

  /** Colours of the page by the names of their properties. */
  private static final Map<String, Tone> PAGE = new LinkedHashMap<>();

  /** Colours of systems by their names, and of {@link #OTHER}. */
  private static final Map<String, Tone> SYSTEMS = new LinkedHashMap<>();

  static {
    PAGE.put("background", new Tone("#ffffff", "#0d1117"));
    PAGE.put("text", new Tone("#1f2328", "#e6edf3"));
    PAGE.put("lesser", new Tone("#59636e", "#9198a1"));
    PAGE.put("rule", new Tone("#d1d9e0", "#3d444d"));
    PAGE.put("link", new Tone("#0969da", "#4493f8"));
    SYSTEMS.put("orca", new Tone("#c8400a", "#ff7a3c"));
    SYSTEMS.put("dex", new Tone("#2563eb", "#4592fd"));
    SYSTEMS.put("sherman", new Tone("#085042", "#54b89c"));
    SYSTEMS.put("p-sherman", new Tone("#769b47", "#dff04a"));
    SYSTEMS.put("fg", new Tone("#898974", "#8a7550"));
    SYSTEMS.put("deft", new Tone("#8f50b0", "#e5b9ff"));
    SYSTEMS.put("rolex", new Tone("#552c00", "#fcf79f"));
    SYSTEMS.put("xstore-d", new Tone("#a583ab", "#55789a"));
    SYSTEMS.put("emt-d", new Tone("#c0504d", "#e8837c"));
    SYSTEMS.put("smart", new Tone("#0e7490", "#22b8cf"));
    SYSTEMS.put("p-smart", new Tone("#9d174d", "#ff9fc4"));
    SYSTEMS.put(OTHER, new Tone("#173758", "#c9d1d9"));
  }

  private Palette() {}

  static Map<String, Tone> page() {
    return PAGE;
  }

  static Map<String, Tone> systems() {
    return SYSTEMS;
  }

  /** Returns the class of the system whose title a text begins with, if it begins with one. */
  static Optional<String> system(String text) {
    return Systems.all().stream()
        .filter(system -> begins(text, system.title()))
        .map(IndexSystem::name)
        .findFirst();
  }

  private static boolean begins(String text, String title) {
    return text.startsWith(title)
        && (text.length() == title.length()
            || !Character.isLetterOrDigit(text.charAt(title.length())));
  }

  /** Returns the rules of a style sheet that define all colours. */
  static String rules(Theme theme) {
    StringBuilder rules = new StringBuilder(":root{");
    PAGE.forEach((name, tone) -> rules.append("--%s:%s;".formatted(name, tone.in(theme))));
    rules.append("}\n");
    SYSTEMS.forEach((name, tone) -> rules.append(".%s{--c:%s}".formatted(name, tone.in(theme))));
    return rules.append("\n").toString();
  }
}
