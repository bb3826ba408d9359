package pando.index;

import static org.assertj.core.api.Assertions.assertThat;

import pando.fabric.Fabric;

/** Asserts that the tree in the pool is sound, after everything was written back. */
public final class TreeCheck {
  private TreeCheck() {}

  /** Checks the tree and returns what it holds. */
  public static Tree walk(Fabric fabric, Configuration configuration) {
    Tree tree = configuration.walk(fabric);
    assertThat(tree.problems()).isEmpty();
    return tree;
  }

  /** Checks the tree of an index that was closed, of which every node is in use. */
  public static Tree walk(Fabric fabric, Configuration configuration, RangeIndex index) {
    Tree tree = walk(fabric, configuration);
    assertThat(tree.bytes()).isEqualTo(index.poolBytes());
    return tree;
  }
}
