package pando.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.function.BooleanSupplier;
import pando.cli.text.Numbers;
import pando.journal.EntryStream;
import pando.journal.FolderReader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.core.exc.JacksonIOException;

/** Writes the entries of a folder into a file of text. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "export",
    description = {
      "Writes all entries of a data folder into a file, as lines of JSON in ascending order.",
      "Byte strings are in base64, words are numbers; docs/durability.md shows the lines. The file"
          + " is there once it is whole. The folder must not be in use; export a backup of one that"
          + " is."
    },
    mixinStandardHelpOptions = true)
final class DataExport extends DataCommand.OnFolder {
  private static final String NEW = ".new";

  /** So many lines are written before it is asked whether anybody reads them. */
  private static final int LOOK_EVERY = 1 << 10;

  @Parameters(index = "0", paramLabel = "DIR", description = "The data folder.")
  private Path folder;

  @Parameters(
      index = "1",
      paramLabel = "FILE",
      description = "The file, which must not be there; - is standard output.")
  private Path file;

  @Override
  int run(PrintWriter out) throws IOException {
    try (FolderReader reader = FolderReader.open(folder)) {
      if (file.toString().equals(EntryFile.STANDARD)) {
        long _ = write(reader, out, out::checkError);
        return printed(out);
      }
      Path made = file.resolveSibling(file.getFileName() + NEW);
      checkIsNotThere(file);
      checkIsNotThere(made);
      long entries = writeFile(reader, made);
      out.printf(
          "exported to %s: kind=%s, entries=%s%n", file, reader.kind(), Numbers.count(entries));
      return CommandLine.ExitCode.OK;
    }
  }

  private static void checkIsNotThere(Path file) {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new IllegalArgumentException(
          "the file is there already: file=%s; remove it, or give another name".formatted(file));
    }
  }

  /** Writes the file under another name first, so that it is there as a whole or not at all. */
  private long writeFile(FolderReader reader, Path made) throws IOException {
    try {
      long entries;
      try (FileChannel channel =
              FileChannel.open(
                  made,
                  StandardOpenOption.CREATE_NEW,
                  StandardOpenOption.WRITE,
                  LinkOption.NOFOLLOW_LINKS);
          Writer to = new BufferedWriter(Channels.newWriter(channel, UTF_8))) {
        entries = write(reader, to, () -> false);
        channel.force(true);
      }
      Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
      forceNames();
      return entries;
    } catch (IOException e) {
      throw new IOException("the file cannot be written: file=%s, cause=%s".formatted(file, e), e);
    } finally {
      Files.deleteIfExists(made);
    }
  }

  private void forceNames() throws IOException {
    Path parent = file.toAbsolutePath().getParent();
    if (parent != null) {
      try (FileChannel names = FileChannel.open(parent, StandardOpenOption.READ)) {
        names.force(true);
      }
    }
  }

  /** Writes all entries, and flushes; returns how many. */
  static long write(FolderReader reader, Writer to, BooleanSupplier stops) throws IOException {
    long count = 0;
    try (EntryFileWriter lines = new EntryFileWriter(to, reader.kind(), reader.codecs());
        EntryStream entries = reader.entries()) {
      while (entries.next()) {
        lines.write(entries.key(), entries.value());
        count++;
        if (count % LOOK_EVERY == 0 && stops.getAsBoolean()) {
          return count;
        }
      }
      lines.end();
    } catch (JacksonIOException e) {
      throw e.getCause();
    }
    return count;
  }
}
