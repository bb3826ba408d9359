package pando.cli.option;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import pando.fabric.verbs.CardOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options for how RDMA cards are used. */
public final class CardSettings {
  private static final Set<String> NAMES =
      Set.of("--masked-atomics", "--line-atomicity", "--device-memory");

  @Option(
      names = "--masked-atomics",
      paramLabel = "HOW",
      defaultValue = "auto",
      converter = Converter.class,
      description = {
        "auto: by the cards where they are seen to do them, else emulated by CAS;",
        "native: by the cards, or the command ends; emulated (default: ${DEFAULT-VALUE})."
      })
  private CardOptions.MaskedAtomics maskedAtomics = CardOptions.MaskedAtomics.AUTO;

  @Option(
      names = "--line-atomicity",
      paramLabel = "BYTES",
      defaultValue = "8",
      description =
          "8 or 64 aligned bytes that your cards read and write at once, which nothing can find"
              + " out (default: ${DEFAULT-VALUE}).")
  private int lineAtomicity = Long.BYTES;

  @Option(
      names = "--device-memory",
      paramLabel = "true|false",
      arity = "1",
      defaultValue = "true",
      description =
          "Memory servers have their on-chip region in memory of the card, if it has as much"
              + " (default: ${DEFAULT-VALUE}).")
  private boolean deviceMemory = true;

  /** Reads how masked atomics are done. */
  public static final class Converter extends NameConverter<CardOptions.MaskedAtomics> {
    Converter() {
      super(Arrays.asList(CardOptions.MaskedAtomics.values()), CardSettings::name);
    }
  }

  private static String name(CardOptions.MaskedAtomics how) {
    return how.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns how cards are used.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  public CardOptions options() {
    return new CardOptions(maskedAtomics, lineAtomicity, deviceMemory);
  }

  /** Refuses these options, where a command uses no card. */
  public static void refuse(CommandSpec spec, String missing) {
    List<String> given = GivenOptions.arguments(spec, NAMES::contains);
    if (!given.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), given.getFirst() + " goes with " + missing + " alone");
    }
  }

  /** Returns them as arguments for another command. */
  public List<String> arguments() {
    return List.of(
        "--masked-atomics=" + name(maskedAtomics),
        "--line-atomicity=" + lineAtomicity,
        "--device-memory=" + deviceMemory);
  }
}
