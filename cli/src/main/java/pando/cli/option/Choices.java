package pando.cli.option;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import pando.cluster.LogMode;
import pando.index.IndexSystem;
import pando.index.Systems;

/** The values that options of several commands take, and their names. */
public final class Choices {
  private Choices() {}

  /** Where the memory servers are. */
  public enum FabricKind {
    /** In this process. */
    LOCAL,
    /** Each in a process of its own, joined by shared memory. */
    SHM,
    /** Each in a process of its own, reached by TCP. */
    TCP,
    /** Each in a process of its own, whose memory is reached by RDMA. */
    VERBS;

    /** Returns whether memory servers are reached by addresses. */
    public boolean isRemote() {
      return this == TCP || this == VERBS;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Reads the system of an index. */
  public static final class IndexConverter extends NameConverter<IndexSystem> {
    public IndexConverter() {
      super(Systems.all(), IndexSystem::name);
    }
  }

  /** The names of all systems, for a command's help. */
  public static final class IndexNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Systems.all().stream().map(IndexSystem::name).iterator();
    }
  }

  /** Returns the system of a name, {@code null} for one name that means something else. */
  public static @Nullable IndexSystem systemUnless(String other, String text) {
    List<Optional<IndexSystem>> choices = new ArrayList<>();
    Systems.all().forEach(system -> choices.add(Optional.of(system)));
    choices.add(Optional.empty());
    return new NameConverter<>(choices, system -> system.map(IndexSystem::name).orElse(other))
        .convert(text)
        .orElse(null);
  }

  /** Reads a fabric. */
  public static final class FabricConverter extends NameConverter<FabricKind> {
    public FabricConverter() {
      super(FabricKind.values());
    }
  }

  /** Reads where changes are logged. */
  public static final class LogConverter extends NameConverter<LogMode> {
    public LogConverter() {
      super(LogMode.values());
    }
  }
}
