package pando.bench;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import pando.bench.figure.Figure;
import pando.bench.keys.KeySet;
import pando.bench.simulate.LockKind;
import pando.bench.workload.Distribution;
import pando.bench.workload.Values;
import pando.bench.workload.Workload;
import pando.cli.option.Choices;
import pando.cli.option.NameConverter;
import pando.index.IndexSystem;
import pando.index.bytes.ByteOptions;
import pando.index.orca.OrcaOptions;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;
import picocli.CommandLine.ITypeConverter;

/** The values that options of these commands take, and their names. */
final class BenchChoices {
  private BenchChoices() {}

  /**
   * The subject of a simulation.
   *
   * @param index {@code null} for locks alone
   * @param strings whether it has the labels of byte strings
   */
  record Simulated(@Nullable IndexSystem index, boolean strings) {}

  /** What the index is compared with. */
  enum Peer {
    /** The ordered map of the JDK, filled in random order. */
    SKIPLIST,
    /** The ordered map of the JDK, filled in the order of keys. */
    SKIPLIST_SORTED,
    /** A plain B+-tree without a fabric. */
    BTREE,
    /** Nothing. */
    NONE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /**
   * One or more workloads.
   *
   * @param list in the order to run them
   */
  record Workloads(List<Workload> list) {}

  /** Reads what runs in virtual time: an index, or {@code lock}. */
  static final class SimulatedConverter implements ITypeConverter<Simulated> {
    @Override
    public Simulated convert(String text) {
      boolean strings = text.equals(ByteOptions.SYSTEM);
      return new Simulated(
          strings ? OrcaOptions.ORCA : Choices.systemUnless("lock", text), strings);
    }
  }

  /** Reads a peer. */
  static final class PeerConverter extends NameConverter<Peer> {
    PeerConverter() {
      super(Peer.values());
    }
  }

  /** Reads a distribution. */
  static final class DistributionConverter extends NameConverter<Distribution> {
    DistributionConverter() {
      super(Distribution.values());
    }
  }

  /** Reads a set of keys. */
  static final class KeySetConverter extends NameConverter<KeySet> {
    KeySetConverter() {
      super(KeySet.values());
    }
  }

  /** Reads what updates write. */
  static final class ValuesConverter extends NameConverter<Values> {
    ValuesConverter() {
      super(Values.values());
    }
  }

  /** Reads a figure. */
  static final class FigureConverter extends NameConverter<Figure> {
    FigureConverter() {
      super(Figure.all(), Figure::name);
    }
  }

  /** The names of all figures, for a command's help. */
  static final class FigureNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Figure.all().stream().map(Figure::name).iterator();
    }
  }

  /** Reads a kind of lock. */
  static final class LockKindConverter extends NameConverter<LockKind> {
    LockKindConverter() {
      super(LockKind.values());
    }
  }

  /** Reads a network. */
  static final class NetworkConverter extends NameConverter<NetworkKind> {
    NetworkConverter() {
      super(NetworkKind.values());
    }
  }

  /** Reads a fault. */
  static final class FaultConverter extends NameConverter<Fault> {
    FaultConverter() {
      super(Fault.values());
    }
  }

  /** Reads workloads separated by commas, or {@code all}. */
  static final class WorkloadsConverter implements ITypeConverter<Workloads> {
    /** The names of the workloads, for a command's help. */
    static final String NAMES =
        "read-only, read-intensive (5 %% updates), write-intensive (50 %% updates),"
            + " insert-intensive (50 %% inserts), scan-intensive (95 %% scans of 100, 5 %% inserts)"
            + " and insert-only are all; others are read-intensive-2 (5 %% inserts), write-only"
            + " (updates), ycsb-d (5 %% inserts, lookups of the latest), ycsb-e (95 %% scans of 1"
            + " to 100, 5 %% inserts), ycsb-f (50 %% lookups followed by an update), store-only"
            + " (inserts by an operation that does not say whether the key was there), multi-get"
            + " (lookups of 32 keys at a time, each of them counted as an operation), multi-put"
            + " (likewise, inserts of 256 keys) and scan-update (50 %% scans of 100, 50 %%"
            + " updates). YCSB's A, B and C are write-intensive, read-intensive and read-only.";

    private static final String ALL = "all";

    @Override
    public Workloads convert(String text) {
      if (text.equals(ALL)) {
        return new Workloads(Workload.ALL);
      }
      NameConverter<Workload> names = new NameConverter<>(Workload.values());
      return new Workloads(Arrays.stream(text.split(",", -1)).map(names::convert).toList());
    }
  }
}
