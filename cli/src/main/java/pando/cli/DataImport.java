package pando.cli;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import pando.cli.text.Numbers;
import pando.journal.FolderImport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Makes a folder of the entries of a file of text. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "import",
    description = {
      "Makes a data folder of the entries of a file, as export writes it.",
      "Lines may be in any order; of those with the same key the last one counts. The folder is"
          + " none before all lines are read."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Exits with 1 where a line is none of such a file; nothing is made then."})
final class DataImport extends DataCommand.OnFolder {
  @Parameters(index = "0", paramLabel = "FILE", description = "The file; - is standard input.")
  private Path file;

  @Parameters(
      index = "1",
      paramLabel = "DIR",
      description = "The new data folder: one that is not there, or empty.")
  private Path folder;

  @Override
  int run(PrintWriter out) throws IOException {
    try (InputStream from = open();
        EntryFileReader reader = new EntryFileReader(from, file.toString())) {
      long entries = FolderImport.make(folder, reader.kind(), reader.codecs(), reader::addTo);
      out.printf(
          "imported to %s: kind=%s, entries=%s%n", folder, reader.kind(), Numbers.count(entries));
      return CommandLine.ExitCode.OK;
    }
  }

  private InputStream open() throws IOException {
    if (file.toString().equals(EntryFile.STANDARD)) {
      return new FilterInputStream(System.in) {
        @Override
        public void close() {} // If it was closed before, its number is that of a file of the JVM.
      };
    }
    if (!Files.exists(file)) {
      throw new IllegalArgumentException("there is no such file: file=" + file);
    }
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("it is no file of entries, but a folder: file=" + file);
    }
    return Files.newInputStream(file);
  }
}
