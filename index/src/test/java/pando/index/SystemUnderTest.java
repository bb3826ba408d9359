package pando.index;

import java.util.List;
import java.util.Locale;

/** A system that the same tests run over. All are those that {@link Systems} lists. */
public final class SystemUnderTest {
  /** All systems: {@code @FieldSource("pando.index.SystemUnderTest#ALL")} runs a test on each. */
  public static final List<SystemUnderTest> ALL =
      Systems.all().stream().map(SystemUnderTest::new).toList();

  public static final SystemUnderTest DEX = of("dex");
  public static final SystemUnderTest ORCA = of("orca");

  /** DEX and ORCA, which maps and clusters use; in a campaign, all systems. */
  public static final List<SystemUnderTest> PRODUCTS =
      Seeds.isCampaign() ? ALL : List.of(DEX, ORCA);

  private static final int TINY_CACHE_NODES = 64;

  private final IndexSystem system;

  private SystemUnderTest(IndexSystem system) {
    this.system = system;
  }

  /** Returns the system of a name, such as {@code P_SHERMAN}; JUnit reads parameters by it. */
  public static SystemUnderTest of(String name) {
    IndexSystem named = Systems.named(name.toLowerCase(Locale.ROOT).replace('_', '-'));
    return ALL.get(Systems.all().indexOf(named));
  }

  /** Returns the name that an index of the system answers to. */
  public String systemName() {
    return system.name();
  }

  /** Returns the system as it is without settings. */
  public Configuration defaults() {
    return new Configuration(system.defaults());
  }

  /** Returns the system with settings under which splits, merges and evictions never end. */
  public Configuration tiny(int computeServers) {
    IndexOptions tiny = system.tiny();
    // Of ORCA's cache, the directory of some thousand leaves takes as much again.
    long nodes = system.equals(ORCA.system) ? 2 * TINY_CACHE_NODES : TINY_CACHE_NODES;
    return new Configuration(
        tiny.withCacheBytes(nodes * tiny.nodeBytes()).withComputeServers(computeServers));
  }

  @Override
  public String toString() {
    return systemName();
  }
}
