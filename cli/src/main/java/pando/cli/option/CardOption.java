package pando.cli.option;

import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.tcp.TcpException;
import pando.fabric.tcp.TcpFabric;
import pando.fabric.tcp.TcpOptions;
import pando.fabric.verbs.CardOptions;
import pando.fabric.verbs.Cards;
import pando.fabric.verbs.VerbsException;
import pando.fabric.verbs.VerbsFabric;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options for the RDMA card by which memory servers are reached. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class CardOption {
  private static final String LINE_ATOMICITY = "--line-atomicity";

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--card",
      paramLabel = "NAME",
      description = "RDMA card of this process, see pando verbs (default: the first).")
  private @Nullable String card;

  @Option(
      names = LINE_ATOMICITY,
      paramLabel = "BYTES",
      description =
          "With --fabric verbs, 8 or 64 aligned bytes that your cards read and write at once, which"
              + " nothing can find out (default: 8).")
  private @Nullable Integer lineAtomicity;

  /** Checks, before anything is started, that the options go with a fabric. */
  public void check(Choices.FabricKind kind) {
    if (kind != Choices.FabricKind.VERBS && lineAtomicity != null) {
      throw refusal(LINE_ATOMICITY + " goes with --fabric verbs alone", null);
    }
    Ranges.accepted(spec, this::options);
  }

  /**
   * Returns how cards are used.
   *
   * @throws IllegalArgumentException if a value is out of its range
   */
  private CardOptions options() {
    CardOptions defaults = CardOptions.defaults();
    return lineAtomicity == null ? defaults : defaults.withLineAtomicity(lineAtomicity);
  }

  /** Returns the card that was named, or the first of this machine. */
  public String card() {
    if (card != null) {
      return card;
    }
    try {
      List<String> cards = Cards.names();
      if (!cards.isEmpty()) {
        return cards.getFirst();
      }
    } catch (VerbsException e) {
      throw refusal(String.valueOf(e.getMessage()), e);
    }
    throw refusal("this machine has no RDMA card: see pando verbs", null);
  }

  /** Connects to memory servers by TCP, or beside it by RDMA. */
  public Fabric attach(
      Choices.FabricKind kind, List<InetSocketAddress> addresses, long seed, TcpOptions tcp) {
    check(kind);
    try {
      return kind == Choices.FabricKind.VERBS
          ? VerbsFabric.attach(addresses, seed, tcp, card(), options())
          : TcpFabric.attach(addresses, seed, tcp);
    } catch (TcpException | VerbsException e) {
      throw refusal(String.valueOf(e.getMessage()), e);
    }
  }

  private ParameterException refusal(String message, @Nullable Throwable cause) {
    return new ParameterException(spec.commandLine(), message, cause);
  }
}
