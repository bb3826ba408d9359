package pando.index;

import pando.fabric.Fabric;
import pando.index.dex.DexIndex;
import pando.index.dex.DexOptions;
import pando.index.dex.DexPokes;
import pando.index.dex.TreeWalk;

/** DEX with its settings. */
public record DexConfiguration(DexOptions options) implements Configuration {
  @Override
  public Configuration with(String name, String value) {
    return new DexConfiguration(options.with(name, value));
  }

  @Override
  public int computeServers() {
    return options.computeServers();
  }

  @Override
  public int nodeBytes() {
    return options.nodeBytes();
  }

  @Override
  public RangeIndex create(Fabric fabric, int first, int count) {
    return DexIndex.create(fabric, options, first, count);
  }

  @Override
  public RangeIndex join(Fabric fabric, int first, int count) {
    return DexIndex.join(fabric, options, first, count);
  }

  @Override
  public Tree walk(Fabric fabric) {
    return TreeWalk.of(fabric, options);
  }

  @Override
  public Pokes pokes(Fabric fabric) {
    return new DexPokes(fabric, options.nodeBytes());
  }
}
