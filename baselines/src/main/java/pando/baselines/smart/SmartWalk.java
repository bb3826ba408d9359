package pando.baselines.smart;

import pando.fabric.Fabric;
import pando.index.Tree;

/** Walks a whole tree. */
final class SmartWalk {
  private SmartWalk() {}

  static Tree of(Fabric fabric, SmartOptions options, boolean entries) {
    throw new UnsupportedOperationException("walk");
  }
}
