package pando.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import pando.bench.workload.Workload;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Names that options take. */
final class Choices {
  private Choices() {}

  /** The indexes there are. */
  enum Index {
    /** DEX. */
    DEX;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Where the memory servers are. */
  enum FabricKind {
    /** In this process. */
    LOCAL,
    /** Each in a process of its own, joined by shared memory. */
    SHM;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What the index is compared with. */
  enum Peer {
    /** The ordered map of the JDK. */
    SKIPLIST,
    /** A plain B+-tree without a fabric. */
    BTREE,
    /** Nothing. */
    NONE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * One or more workloads.
   *
   * @param list in the order to run them
   */
  record Workloads(List<Workload> list) {
    private static final String ALL = "all";

    /** Reads names with commas between, or {@code all}. */
    static final class Converter implements ITypeConverter<Workloads> {
      @Override
      public Workloads convert(String text) {
        return new Workloads(
            text.equals(ALL)
                ? Workload.ALL
                : Arrays.stream(text.split(",", -1)).map(Converter::workload).toList());
      }

      private static Workload workload(String name) {
        for (Workload workload : Workload.values()) {
          if (workload.toString().equals(name)) {
            return workload;
          }
        }
        String known =
            Arrays.stream(Workload.values())
                .map(Workload::toString)
                .collect(Collectors.joining(", "));
        throw new TypeConversionException(
            "'" + name + "' is not a workload: expected all, or some of " + known);
      }
    }
  }
}
