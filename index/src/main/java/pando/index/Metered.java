package pando.index;

import java.util.List;
import java.util.Optional;
import pando.fabric.Fabric;
import pando.fabric.VerbCounters;

/**
 * What can be watched while it runs: an index, a map over one, or a door to one. All its meters are
 * of this process. Thread-safe.
 */
public interface Metered {
  /** Returns the name of the system whose entries these are, such as {@code orca}. */
  String name();

  /** Returns the fabric that connects it to its memory servers. */
  Fabric fabric();

  /** Returns the verbs that have been issued for it, by sessions that are open or closed. */
  VerbCounters verbs();

  /** Returns whether it serves no operation any more. */
  boolean isClosed();

  /** Returns the last error that its meters count, if it knows. */
  default Optional<LastError> lastError() {
    return Optional.empty();
  }

  /** Returns why it does not do all that it is there for, one line each, beside memory servers. */
  default List<String> hindrances() {
    return List.of();
  }

  /** Names the meters that it has beside verbs; those of what it is built on are among them. */
  void meters(Meters to);
}
