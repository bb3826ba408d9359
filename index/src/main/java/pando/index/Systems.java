package pando.index;

import java.util.List;
import java.util.stream.Collectors;
import pando.fabric.server.CallHandler;
import pando.index.deft.DeftOptions;
import pando.index.dex.DexOptions;
import pando.index.rolex.RolexOptions;
import pando.index.sherman.ShermanOptions;

/** The systems that there are. A new one is a line here, and nothing else outside its package. */
public final class Systems {
  private static final List<IndexSystem> ALL =
      List.of(
          DexOptions.DEX,
          ShermanOptions.SHERMAN,
          ShermanOptions.P_SHERMAN,
          ShermanOptions.FG,
          DeftOptions.DEFT,
          RolexOptions.ROLEX,
          RolexOptions.XSTORE_D);

  private Systems() {}

  /** Returns all, the first of which is the default. */
  public static List<IndexSystem> all() {
    return ALL;
  }

  /**
   * Returns the system of a name, such as {@code dex}.
   *
   * @throws IllegalArgumentException where there is none
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
   * Makes the services that memory servers run for the indexes of all systems. A pool that is
   * opened with them, {@code PoolOptions.defaults().withHandlers(Systems.handlers())}, can hold any
   * index.
   */
  public static List<CallHandler> handlers() {
    return ALL.stream().flatMap(system -> system.handlers().get().stream()).toList();
  }
}
