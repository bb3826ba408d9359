import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Checks, or rewrites, every Java file below a folder in Google Java style.
 *
 * <p>The build runs this file as it stands; see the pom beside it.
 */
final class Format {
  private Format() {}

  /** What became of one file: {@code message} is null where nothing was to be done. */
  private record Result(Path file, boolean failed, String message) {}

  /**
   * Takes the mode, {@code check} or {@code write}, the folder, and the file that is to exist
   * afterwards if a file is not formatted.
   */
  public static void main(String[] args) throws IOException {
    boolean write = args[0].equals("write");
    Path root = Path.of(args[1]).toRealPath();
    Path unformatted = Path.of(args[2]);
    List<Result> results =
        javaFiles(root).parallelStream()
            .map(file -> format(file, write))
            .filter(result -> result.message() != null)
            .toList();
    Files.deleteIfExists(unformatted);
    List<String> failures = new ArrayList<>();
    for (Result result : results) {
      String line = root.relativize(result.file()) + ": " + result.message();
      System.err.println(line);
      if (result.failed()) {
        failures.add(line);
      }
    }
    if (!failures.isEmpty()) {
      Files.createDirectories(unformatted.getParent());
      Files.write(unformatted, failures);
    }
  }

  private static Result format(Path file, boolean write) {
    try {
      String before = Files.readString(file);
      String after = new Formatter().formatSourceAndFixImports(before);
      if (after.equals(before)) {
        return new Result(file, false, null);
      }
      if (!write) {
        return new Result(file, true, "not formatted");
      }
      Files.writeString(file, after);
      return new Result(file, false, "formatted");
    } catch (FormatterException e) {
      return new Result(file, true, "cannot be parsed: " + e.getMessage());
    } catch (IOException e) {
      return new Result(file, true, e.toString());
    }
  }

  private static List<Path> javaFiles(Path root) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
            String name = Objects.toString(dir.getFileName());
            boolean skip = !dir.equals(root) && (name.equals("target") || name.startsWith("."));
            return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (file.toString().endsWith(".java")) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return files;
  }
}
