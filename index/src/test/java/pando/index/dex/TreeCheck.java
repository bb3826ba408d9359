package pando.index.dex;

import static org.assertj.core.api.Assertions.assertThat;

import pando.fabric.Fabric;
import pando.index.Tree;

/** Asserts that the tree in the pool is sound, after everything was written back. */
final class TreeCheck {
  private TreeCheck() {}

  /** Checks the tree and returns what it holds. */
  static Tree walk(Fabric fabric, DexOptions options) {
    Tree tree = TreeWalk.of(fabric, options);
    assertThat(tree.problems()).isEmpty();
    return tree;
  }
}
