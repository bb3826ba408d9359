package pando.index;

import pando.fabric.Fabric;
import pando.index.sherman.BLinkWalk;
import pando.index.sherman.ShermanIndex;
import pando.index.sherman.ShermanOptions;
import pando.index.sherman.ShermanPokes;

/** Sherman, P-Sherman or FG+ with its settings. */
public record ShermanConfiguration(ShermanOptions options) implements Configuration {
  @Override
  public Configuration with(String name, String value) {
    return new ShermanConfiguration(options.with(name, value));
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
    return ShermanIndex.create(fabric, options, first, count);
  }

  @Override
  public RangeIndex join(Fabric fabric, int first, int count) {
    return ShermanIndex.join(fabric, options, first, count);
  }

  @Override
  public Tree walk(Fabric fabric) {
    return BLinkWalk.of(fabric, options);
  }

  @Override
  public Pokes pokes(Fabric fabric) {
    return new ShermanPokes(fabric, options);
  }
}
