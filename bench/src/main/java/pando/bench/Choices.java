package pando.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import pando.bench.figure.Figure;
import pando.bench.keys.KeySet;
import pando.bench.simulate.LockKind;
import pando.bench.workload.Distribution;
import pando.bench.workload.Workload;
import pando.index.IndexSystem;
import pando.index.Systems;
import pando.sim.NetworkKind;
import pando.sim.fault.Fault;
import picocli.CommandLine.ITypeConverter;

/** The values that options take, and their names. */
final class Choices {
  private Choices() {}

  /**
   * The subject of a simulation.
   *
   * @param index {@code null} for locks alone
   */
  record Simulated(@Nullable IndexSystem index) {}

  /**
   * The index that is served to clients.
   *
   * @param index {@code null} for byte strings
   */
  record ClientIndex(@Nullable IndexSystem index) {}

  /** Where the memory servers are. */
  enum FabricKind {
    /** In this process. */
    LOCAL,
    /** Each in a process of its own, joined by shared memory. */
    SHM,
    /** Each in a process of its own, reached by TCP. */
    TCP,
    /** Each in a process of its own, whose memory is reached by RDMA. */
    VERBS;

    /** Returns whether memory servers are reached by addresses. */
    boolean isRemote() {
      return this == TCP || this == VERBS;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

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

  /** Reads the system of an index. */
  static final class IndexConverter extends NameConverter<IndexSystem> {
    IndexConverter() {
      super(Systems.all(), IndexSystem::name);
    }
  }

  /** The names of all systems, for a command's help. */
  static final class IndexNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Systems.all().stream().map(IndexSystem::name).iterator();
    }
  }

  /** Returns the system of a name, {@code null} for one name that means something else. */
  private static @Nullable IndexSystem systemUnless(String other, String text) {
    List<Optional<IndexSystem>> choices = new ArrayList<>();
    Systems.all().forEach(system -> choices.add(Optional.of(system)));
    choices.add(Optional.empty());
    return new NameConverter<>(choices, system -> system.map(IndexSystem::name).orElse(other))
        .convert(text)
        .orElse(null);
  }

  /** Reads what runs in virtual time: an index, or {@code lock}. */
  static final class SimulatedConverter implements ITypeConverter<Simulated> {
    @Override
    public Simulated convert(String text) {
      return new Simulated(systemUnless("lock", text));
    }
  }

  /** Reads what is served to clients: an index of words, or {@code byte-strings}. */
  static final class ClientIndexConverter implements ITypeConverter<ClientIndex> {
    @Override
    public ClientIndex convert(String text) {
      return new ClientIndex(systemUnless("byte-strings", text));
    }
  }

  /** Reads a fabric. */
  static final class FabricConverter extends NameConverter<FabricKind> {
    FabricConverter() {
      super(FabricKind.values());
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
            + " (inserts by an operation that does not say whether the key was there) and multi-get"
            + " (lookups of 32 keys at a time, each of them counted as an operation). YCSB's A, B"
            + " and C are write-intensive, read-intensive and read-only.";

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
