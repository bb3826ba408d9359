package pando.index;

import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.rolex.RolexOptions;
import pando.index.sherman.ShermanOptions;

/** The systems that the same tests run over. */
public enum SystemUnderTest {
  DEX("dex"),
  SHERMAN("sherman"),
  P_SHERMAN("p-sherman"),
  FG("fg"),
  DEFT("deft"),
  ROLEX("rolex"),
  XSTORE_D("xstore-d");

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
          case ROLEX -> RolexOptions.rolex();
          case XSTORE_D -> RolexOptions.xstoreD();
          case SHERMAN, P_SHERMAN, FG -> ShermanOptions.of(systemName);
        });
  }

  /** Returns the system with settings under which splits, merges and evictions never end. */
  public Configuration tiny(int computeServers) {
    int nodeBytes =
        switch (this) {
          case DEX, SHERMAN, P_SHERMAN, FG -> 192;
          case DEFT -> 448;
          case ROLEX, XSTORE_D -> 384;
        };
    Configuration base =
        this == ROLEX || this == XSTORE_D
            ? defaults().with("delta=4 epsilon=4 leaves-max=8")
            : defaults();
    return base.with("node-bytes", String.valueOf(nodeBytes))
        .with("cache-bytes", String.valueOf(TINY_CACHE_NODES * nodeBytes))
        .with("compute-servers", String.valueOf(computeServers));
  }
}
