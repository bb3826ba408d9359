package pando.index;

import pando.index.dex.DexOptions;
import pando.index.sherman.ShermanOptions;

/** The systems that the same tests run over. */
public enum SystemUnderTest {
  DEX("dex"),
  SHERMAN("sherman"),
  P_SHERMAN("p-sherman"),
  FG("fg");

  private static final String TINY_NODE_BYTES = "192";
  private static final int TINY_CACHE_NODES = 64;

  private final String systemName;

  SystemUnderTest(String systemName) {
    this.systemName = systemName;
  }

  /** Returns the name that an index of the system answers to. */
  public String systemName() {
    return systemName;
  }

  /** Returns the system as it is without settings. */
  public Configuration defaults() {
    return new Configuration(this == DEX ? DexOptions.defaults() : ShermanOptions.of(systemName));
  }

  /** Returns the system with settings under which splits, merges and evictions never end. */
  public Configuration tiny(int computeServers) {
    return defaults()
        .with("node-bytes", TINY_NODE_BYTES)
        .with("cache-bytes", String.valueOf(TINY_CACHE_NODES * Integer.parseInt(TINY_NODE_BYTES)))
        .with("compute-servers", String.valueOf(computeServers));
  }
}
