package pando.index;

import pando.fabric.Fabric;

/**
 * A system with its settings, as a test uses it. Immutable.
 *
 * @param options of any system
 */
public record Configuration(IndexOptions options) {
  /** Returns this with one setting changed. */
  public Configuration with(String name, String value) {
    return new Configuration(options.with(name, value));
  }

  /** Returns this with settings changed, each {@code name=value}, with spaces between. */
  public Configuration with(String settings) {
    Configuration changed = this;
    for (String setting : settings.split(" ", -1)) {
      String[] parts = setting.split("=", 2);
      changed = changed.with(parts[0], parts[1]);
    }
    return changed;
  }

  /** Returns this with a limit to waits for locks, if the system has locks in the pool. */
  public Configuration withLockWait(int millis) {
    String name = "lock-wait-millis";
    return options.documentation().containsKey(name) ? with(name, Integer.toString(millis)) : this;
  }

  /** Returns the size of a node. */
  public int nodeBytes() {
    return options.nodeBytes();
  }

  /** Makes an empty index with all its compute servers. */
  public RangeIndex create(Fabric fabric) {
    return options.create(fabric, 0, options.computeServers());
  }

  /** Makes an empty index with some of its compute servers. */
  public RangeIndex create(Fabric fabric, int first, int count) {
    return options.create(fabric, first, count);
  }

  /** Joins an index with some of its compute servers. */
  public RangeIndex join(Fabric fabric, int first, int count) {
    return options.join(fabric, first, count);
  }

  /** Walks the tree in the pool, of an index that nobody changes. */
  public Tree walk(Fabric fabric) {
    return options.walk(fabric);
  }

  /** Opens the pool to damage of nodes: by the class of Pokes that stands beside the options. */
  public Pokes pokes(Fabric fabric) {
    String name = options.getClass().getName().replace("Options", "Pokes");
    try {
      return Class.forName(name)
          .asSubclass(Pokes.class)
          .getConstructor(Fabric.class, options.getClass())
          .newInstance(fabric, options);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("no pokes: class=" + name, e);
    }
  }
}
