package pando.index;

import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.sherman.ShermanOptions;

/** The systems that the same tests run over. */
public enum SystemUnderTest {
  DEX("dex"),
  SHERMAN("sherman"),
  P_SHERMAN("p-sherman"),
  FG("fg"),
  DEFT("deft");

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
    return new Configuration(
        switch (this) {
          case DEX -> DexOptions.defaults();
          case DEFT -> DeftOptions.defaults();
          case SHERMAN, P_SHERMAN, FG -> ShermanOptions.of(systemName);
        });
  }

  /** Returns the system with settings under which splits, merges and evictions never end. */
  public Configuration tiny(int computeServers) {
    int nodeBytes = this == DEFT ? 448 : 192;
    return defaults()
        .with("node-bytes", String.valueOf(nodeBytes))
        .with("cache-bytes", String.valueOf(TINY_CACHE_NODES * nodeBytes))
        .with("compute-servers", String.valueOf(computeServers));
  }
}
