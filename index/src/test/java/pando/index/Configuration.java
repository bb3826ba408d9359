package pando.index;

import pando.fabric.Fabric;

/** A system with its settings, so that a test can use any. Immutable. */
public interface Configuration {
  /** Returns this with one setting changed. */
  Configuration with(String name, String value);

  /** Returns this with settings changed, each {@code name=value}, with spaces between. */
  default Configuration with(String settings) {
    Configuration changed = this;
    for (String setting : settings.split(" ", -1)) {
      String[] parts = setting.split("=", 2);
      changed = changed.with(parts[0], parts[1]);
    }
    return changed;
  }

  /** Returns the number of compute servers. */
  int computeServers();

  /** Returns the size of a node. */
  int nodeBytes();

  /** Makes an empty index with all its compute servers. */
  default RangeIndex create(Fabric fabric) {
    return create(fabric, 0, computeServers());
  }

  /** Makes an empty index with some of its compute servers. */
  RangeIndex create(Fabric fabric, int first, int count);

  /** Joins an index with some of its compute servers. */
  RangeIndex join(Fabric fabric, int first, int count);

  /** Walks the tree in the pool, of an index that nobody changes. */
  Tree walk(Fabric fabric);

  /** Opens the pool to damage of nodes. */
  Pokes pokes(Fabric fabric);
}
