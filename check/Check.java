import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Checks every Java file below a folder: whether it is in Google Java style, and what Error Prone
 * and NullAway find. Or formats every file.
 *
 * <p>The build runs this file as it stands; see the pom beside it. Error Prone takes all modules
 * together: it starts once, and each module's compilation is short.
 */
final class Check {
  private static final List<String> OPTIONS =
      List.of(
          "-proc:none",
          "-parameters",
          "-Werror",
          "-implicit:none",
          "-XDcompilePolicy=simple",
          "--should-stop=ifError=FLOW",
          // Nothing is made of what was checked.
          "--should-stop=ifNoError=FLOW",
          "-XDaddTypeAnnotationsToSymbol=true",
          "-Xplugin:ErrorProne -Xep:NullAway:ERROR -XepOpt:NullAway:AnnotatedPackages=pando");

  private Check() {}

  /**
   * Takes the mode, the folder, the release of Java, and the file that is to exist afterwards if
   * something was found: a process that fails makes Maven print a stack.
   *
   * <p>The modes are {@code write}, which formats; {@code main}, which checks, with Error Prone for
   * main code; and {@code all}, with Error Prone for tests, too.
   */
  public static void main(String[] args) throws IOException {
    String mode = args[0];
    Path root = Path.of(args[1]).toRealPath();
    List<Path> files = javaFiles(root);
    boolean clean =
        switch (mode) {
          case "write" -> report(formatted(root, files, true));
          case "main" -> isClean(root, files, isIn("main", "jmh", "trials"), args[2]);
          case "all" -> isClean(root, files, isIn("main", "jmh", "trials", "test"), args[2]);
          default -> throw new IllegalArgumentException("unknown mode: " + mode);
        };
    Path found = Path.of(args[3]);
    Files.deleteIfExists(found);
    if (!clean) {
      Files.createDirectories(found.getParent());
      Files.createFile(found);
    }
  }

  private static boolean isClean(
      Path root, List<Path> files, Predicate<Path> compiled, String release) {
    List<Path> sources = files.stream().filter(compiled).toList();
    CompletableFuture<List<String>> compiling =
        CompletableFuture.supplyAsync(
            () -> compile(sources, release), body -> new Thread(body, "compiler").start());
    boolean clean = report(formatted(root, files, false));
    return report(compiling.join()) && clean;
  }

  /** Prints what was found; returns whether that is nothing. */
  private static boolean report(List<String> found) {
    found.forEach(System.err::println);
    return found.isEmpty();
  }

  private static Predicate<Path> isIn(String... sources) {
    return file ->
        Stream.of(sources).anyMatch(name -> file.toString().contains("/src/" + name + "/java/"))
            && !file.endsWith("module-info.java");
  }

  /** Returns what Error Prone finds, as the compiler prints it. */
  private static List<String> compile(List<Path> files, String release) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options = new ArrayList<>(OPTIONS);
    String path = System.getProperty("java.class.path");
    options.addAll(List.of("--release", release, "-classpath", path, "-processorpath", path));
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager sources =
        compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      boolean clean =
          compiler
              .getTask(
                  messages,
                  sources,
                  null,
                  options,
                  null,
                  sources.getJavaFileObjectsFromPaths(files))
              .call();
      List<String> found = new ArrayList<>(messages.toString().lines().toList());
      if (!clean) {
        found.add("the compiler found errors");
      }
      return found;
    } catch (IOException e) {
      return List.of(e.toString());
    }
  }

  /** Returns the files that are not formatted, or that could not be. */
  private static List<String> formatted(Path root, List<Path> files, boolean write) {
    return files.parallelStream()
        .flatMap(
            file -> format(file, write).map(what -> root.relativize(file) + ": " + what).stream())
        .toList();
  }

  private static Optional<String> format(Path file, boolean write) {
    try {
      String before = Files.readString(file);
      String after = new Formatter().formatSourceAndFixImports(before);
      if (after.equals(before)) {
        return Optional.empty();
      }
      if (write) {
        Files.writeString(file, after);
        return Optional.empty();
      }
      return Optional.of("not formatted");
    } catch (FormatterException e) {
      return Optional.of("cannot be parsed: " + e.getMessage());
    } catch (IOException e) {
      return Optional.of(e.toString());
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
