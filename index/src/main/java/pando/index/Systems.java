package pando.index;

import java.util.List;
import java.util.stream.Collectors;
import pando.fabric.server.CallHandler;
import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;
import pando.index.rolex.RolexOptions;
import pando.index.sherman.ShermanOptions;

/**
 * The registry of systems. A new system adds one line here. Outside its package it needs nothing
 * else but an export in {@code module-info.java}, and its place in the documents.
 */
public final class Systems {
  /** Name of the system that commands take where none is named. */
  public static final String DEFAULT = "orca";

  private static final List<IndexSystem> ALL =
      List.of(
          DexOptions.DEX,
          OrcaOptions.ORCA,
          ShermanOptions.SHERMAN,
          ShermanOptions.P_SHERMAN,
          ShermanOptions.FG,
          DeftOptions.DEFT,
          RolexOptions.ROLEX,
          RolexOptions.XSTORE_D);

  private Systems() {}

  /** Returns all systems. */
  public static List<IndexSystem> all() {
    return ALL;
  }

  /**
   * Returns the system with a name, such as {@code dex}.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static IndexSystem named(String name) {
    return ALL.stream()
        .filter(system -> system.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new IllegalArgumentException("no such system: name=" + name + ", known=" + names()));
  }

  private static String names() {
    return ALL.stream().map(IndexSystem::name).collect(Collectors.joining(", "));
  }

  /**
   * Makes the CALL handlers that memory servers run for the indexes of all systems. A pool that is
   * opened with them, {@code PoolOptions.defaults().withHandlers(Systems.handlers())}, can hold any
   * index.
   */
  public static List<CallHandler> handlers() {
    return ALL.stream().flatMap(system -> system.handlers().get().stream()).toList();
  }
}
