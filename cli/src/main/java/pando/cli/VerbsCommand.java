package pando.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import pando.cli.text.Numbers;
import pando.fabric.verbs.Cards;
import pando.fabric.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Says which RDMA cards there are, and whether they do what memory servers need. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "verbs",
    description = "Lists the RDMA cards of this machine.",
    mixinStandardHelpOptions = true,
    footer = {"", "Exits with 1 where there is no card that can be used, or a self-test fails."})
final class VerbsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--self-test",
      description = "Connects each card to itself, tries every verb, and times some.")
  private boolean test;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      List<String> cards = Cards.names();
      if (cards.isEmpty()) {
        out.println(
            "no RDMA card. Without one, Soft-RoCE does the same over a network interface:"
                + " modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0");
      }
      printLimit(out);
      boolean usable = !cards.isEmpty();
      for (String card : cards) {
        usable &= print(out, card);
      }
      return usable ? ExitCode.OK : ExitCode.SOFTWARE;
    } catch (VerbsException e) {
      out.println(e.getMessage());
      return ExitCode.SOFTWARE;
    }
  }

  private static void print(PrintWriter out, Cards.Description card) {
    out.printf(
        "%s: address %s, packets of %d bytes, %d queue pairs, %d regions, %d READs and atomics"
            + " under way, firmware %s%n",
        card.name(),
        card.address(),
        card.mtuBytes(),
        card.queuePairs(),
        card.regions(),
        card.readsUnderWay(),
        card.firmware());
  }

  private static void printLimit(PrintWriter out) {
    Cards.lockedBytesMax()
        .ifPresentOrElse(
            bytes ->
                out.printf(
                    "This process may lock %s. A card's memory is locked, the whole pool of a"
                        + " memory server: raise the limit (ulimit -l unlimited;"
                        + " LimitMEMLOCK=infinity of a systemd unit).%n",
                    Numbers.size(bytes)),
            () -> out.println("No limit of locked memory."));
  }

  /** Returns whether the card can be used. */
  private boolean print(PrintWriter out, String card) {
    try {
      print(out, Cards.describe(card));
      boolean works = true;
      for (Cards.Finding finding : test ? Cards.test(card) : List.<Cards.Finding>of()) {
        out.printf(
            "  %-4s %s: %s%n", finding.works() ? "ok" : "FAIL", finding.what(), finding.found());
        works &= finding.works();
      }
      return works;
    } catch (VerbsException e) {
      out.printf("%s: %s%n", card, e.getMessage());
      return false;
    }
  }
}
