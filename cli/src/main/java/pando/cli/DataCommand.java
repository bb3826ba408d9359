package pando.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Ranges;
import pando.cli.text.EntryText;
import pando.cli.text.Numbers;
import pando.journal.EntryStream;
import pando.journal.FolderBackup;
import pando.journal.FolderCheck;
import pando.journal.FolderReader;
import pando.journal.FolderRepair;
import pando.journal.FolderReport;
import pando.journal.FolderRestore;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks, copies and mends data folders. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "data",
    description =
        "Checks, copies and mends data folders, and prints, exports and imports what is in them.",
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = true,
    subcommands = {
      DataCommand.DataCheck.class,
      DataCommand.DataBackup.class,
      DataCommand.DataRestore.class,
      DataCommand.DataRepair.class,
      DataCommand.DataDump.class,
      DataExport.class,
      DataImport.class
    })
final class DataCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  /** Prints the help, where no subcommand is given. */
  @Override
  public Integer call() {
    CommandLine command = spec.commandLine();
    command.usage(command.getErr());
    return CommandLine.ExitCode.USAGE;
  }

  /** Works with a folder. */
  abstract static class OnFolder implements Callable<Integer> {
    @Spec private CommandSpec spec;

    /** Does the work; returns the exit code. */
    abstract int run(PrintWriter out) throws IOException;

    @Override
    public final Integer call() throws IOException {
      PrintWriter out = spec.commandLine().getOut();
      try {
        return run(out);
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
      } finally {
        out.flush();
      }
    }

    final CommandSpec spec() {
      return spec;
    }

    /** Says in one line why nothing was done, and what to do; returns the exit code. */
    final int refuse(String why) {
      PrintWriter err = spec.commandLine().getErr();
      err.println(spec.qualifiedName() + ": " + why);
      err.flush();
      return CommandLine.ExitCode.SOFTWARE;
    }

    /** Returns the exit code behind what was printed, which nobody may have received. */
    final int printed(PrintWriter out) {
      return out.checkError()
          ? refuse("the output cannot be written: nobody reads it any more, or its disk is full")
          : CommandLine.ExitCode.OK;
    }

    /** Prints a line with a name and what it says. */
    static void print(PrintWriter out, String name, String text) {
      out.printf("%-13s %s%n", name, text);
    }
  }

  /** Verifies a folder. */
  @Command(
      name = "check",
      description = {
        "Verifies every byte of a data folder, and says what is in it.",
        "Changes nothing. The folder must not be in use; check a backup of one that is."
      },
      mixinStandardHelpOptions = true,
      footer = {"", "Exits with 1 where a byte is not as it was written."})
  static final class DataCheck extends OnFolder {
    @Parameters(paramLabel = "DIR", description = "The data folder.")
    private Path folder;

    @Override
    int run(PrintWriter out) {
      FolderReport report = FolderCheck.of(folder);
      print(out, "kind", report.kind());
      if (!report.codecs().isEmpty()) {
        print(out, "codecs", report.codecs());
      }
      if (report.generation() > 0) {
        print(out, "cluster", report.cluster() + ", generation " + report.generation());
      }
      print(out, "sorted files", Numbers.count(report.sortedFiles()));
      print(out, "log files", Numbers.count(report.segments()));
      print(out, "bytes", Numbers.bytes(report.bytes()));
      if (!report.isWhole()) {
        report.problems().forEach(problem -> print(out, "damaged", problem));
        return refuse(
            "damaged: folder=%s, problems=%s; %s"
                .formatted(
                    folder, report.problems().size(), CommandFailures.advice(report.cutAt())));
      }
      print(out, "entries", Numbers.count(report.entries()));
      print(out, "changes", Numbers.count(report.records()) + " of them not in sorted files yet");
      print(out, "end", Long.toHexString(report.end()) + ", " + end(report));
      out.println(
          report.recordsBehind() == 0
              ? "Every byte is as it was written."
              : "Every byte before that end is as it was written. To keep what is behind, copy the"
                  + " folder before it is opened.");
      return CommandLine.ExitCode.OK;
    }

    private static String end(FolderReport report) {
      String end =
          report.isClosed()
              ? "closed"
              : "not closed: its process was killed, the power failed, or it is a backup";
      return report.recordsBehind() == 0
          ? end
          : "%s; %s whole records behind it do not count, as one before them was lost"
              .formatted(end, Numbers.count(report.recordsBehind()));
    }
  }

  /** Copies a folder that may be in use. */
  @Command(
      name = "backup",
      description = {
        "Copies a data folder, also one that is in use: the copy is its state at one moment.",
        "All that was acknowledged before is in it. The copy is a data folder itself, of no"
            + " cluster. On the same file system it shares large files with the folder, as hard"
            + " links: it saves from mistakes, and not from the loss of the disk."
      },
      mixinStandardHelpOptions = true)
  static final class DataBackup extends OnFolder {
    private static final int SECONDS_MAX = 86_400;

    @Parameters(index = "0", paramLabel = "DIR", description = "The data folder.")
    private Path folder;

    @Parameters(
        index = "1",
        paramLabel = "TO",
        description = "The copy: a folder that is not there, or empty.")
    private Path copy;

    @Option(
        names = "--wait",
        paramLabel = "SECONDS",
        defaultValue = "60",
        description =
            "Tries it again for so long where files change too fast (default: ${DEFAULT-VALUE}).")
    private int waitSeconds;

    @Override
    int run(PrintWriter out) {
      Ranges.check(spec(), "--wait", waitSeconds, 0, SECONDS_MAX);
      FolderBackup.Report report = FolderBackup.take(folder, copy, Duration.ofSeconds(waitSeconds));
      out.printf(
          "copied to %s, up to place %x: files=%d, linked=%d, copied=%s%n",
          copy,
          report.end(),
          report.linked() + report.copied(),
          report.linked(),
          Numbers.bytes(report.copiedBytes()));
      return CommandLine.ExitCode.OK;
    }
  }

  /** Makes a folder of a backup. */
  @Command(
      name = "restore",
      description = {
        "Makes a data folder, of no cluster, that has the entries of another one, such as a"
            + " backup.",
        "Verifies every byte of it first. It must not be in use, and is not changed."
      },
      mixinStandardHelpOptions = true)
  static final class DataRestore extends OnFolder {
    @Parameters(index = "0", paramLabel = "FROM", description = "A data folder.")
    private Path from;

    @Parameters(
        index = "1",
        paramLabel = "DIR",
        description = "The new data folder: one that is not there, or empty.")
    private Path folder;

    @Override
    int run(PrintWriter out) {
      FolderReport report = FolderRestore.restore(from, folder);
      out.printf(
          "restored to %s: kind=%s, entries=%s%n",
          folder, report.kind(), Numbers.count(report.entries()));
      return CommandLine.ExitCode.OK;
    }
  }

  /** Cuts a damaged log. */
  @Command(
      name = "repair",
      description = {
        "Cuts the log of a data folder where it is damaged in the middle, so that it can be"
            + " opened.",
        "All changes behind the cut are lost to the folder: restore a backup rather than that, if"
            + " there is one that is new enough. The files that had them are kept in its folder"
            + " cut-PLACE. Without --cut-at it says where the log is damaged, and changes nothing."
      },
      mixinStandardHelpOptions = true,
      footer = {"", "Exits with 1 where the folder is damaged, and was not cut."})
  static final class DataRepair extends OnFolder {
    @Parameters(paramLabel = "DIR", description = "The data folder.")
    private Path folder;

    @Option(
        names = "--cut-at",
        paramLabel = "PLACE",
        description = "The place that check and the failure to open the folder name (cut-at).")
    private @Nullable String place;

    @Override
    int run(PrintWriter out) {
      String given = place;
      if (given == null) {
        FolderReport report = FolderCheck.of(folder);
        report.problems().forEach(out::println);
        if (report.isWhole()) {
          out.println("Every byte is as it was written; there is nothing to repair.");
          return CommandLine.ExitCode.OK;
        }
        return refuse(
            "nothing was changed: folder=%s; %s"
                .formatted(folder, CommandFailures.advice(report.cutAt())));
      }
      FolderRepair.Cut cut = FolderRepair.cut(folder, place(given));
      out.printf(
          "cut at place %x: files=%d, bytes=%s, whole records=%s, kept in %s%n",
          cut.at(),
          cut.segments(),
          Numbers.bytes(cut.bytes()),
          Numbers.count(cut.records()),
          cut.kept());
      return CommandLine.ExitCode.OK;
    }

    private static long place(String text) {
      try {
        return HexFormat.fromHexDigitsToLong(text);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "--cut-at takes a place, in hexadecimal digits: value=" + text, e);
      }
    }
  }

  /** Prints what is in a folder. */
  @Command(
      name = "dump",
      description = {
        "Prints the entries of a data folder in ascending order, each as a line: key, tab, value.",
        "Byte strings as text; what is no text is \\x and the byte, a backslash is two of them."
            + " Words as numbers. The folder must not be in use; dump a backup of one that is."
      },
      mixinStandardHelpOptions = true)
  static final class DataDump extends OnFolder {
    /** So many lines are printed before it is asked whether anybody reads them. */
    private static final int LOOK_EVERY = 1 << 10;

    @Parameters(paramLabel = "DIR", description = "The data folder.")
    private Path folder;

    @Option(
        names = "--log",
        description = {
          "Prints the records of the log instead, which are not in sorted files yet: place, what it"
              + " is, key, value."
        })
    private boolean log;

    @Override
    int run(PrintWriter out) throws IOException {
      try (FolderReader reader = FolderReader.open(folder)) {
        EntryText text = EntryText.ofKind(reader.kind());
        if (log) {
          reader.records(
              (place, kind, key, value) -> out.println(text.line(place, kind, key, value)));
          return printed(out);
        }
        try (EntryStream entries = reader.entries()) {
          for (int lines = 1; entries.next(); lines++) {
            out.println(text.line(entries.key(), entries.value()));
            if (lines % LOOK_EVERY == 0 && out.checkError()) {
              break;
            }
          }
        }
        return printed(out);
      }
    }
  }
}
