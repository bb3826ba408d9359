package pando.index;

import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import pando.fabric.server.CallHandler;
import pando.index.dex.DexOptions;
import pando.index.orca.OrcaOptions;

/**
 * The registry of systems: DEX and ORCA, and those of other modules that are on the module path or
 * the class path. Those of papers are in the module {@code pando.baselines}.
 */
public final class Systems {
  /** Name of the system that commands take where none is named. */
  public static final String DEFAULT = "orca";

  private static final List<IndexSystem> ALL =
      Stream.concat(
              Stream.of(DexOptions.DEX, OrcaOptions.ORCA),
              ServiceLoader.load(SystemProvider.class, Systems.class.getClassLoader()).stream()
                  .flatMap(provider -> provider.get().systems().stream()))
          .toList();

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
            new IllegalArgumentException(
                "no such system: name=" + name + ", known=" + names() + hint()));
  }

  private static String names() {
    return ALL.stream().map(IndexSystem::name).collect(Collectors.joining(", "));
  }

  private static String hint() {
    return ALL.size() > 2 ? "" : "; those of papers need the module pando.baselines";
  }

  /**
   * Makes the CALL handlers that memory servers run for the indexes of {@linkplain #all all
   * systems} that this program has, and those that it has as services. A pool that is opened with
   * them, {@code PoolOptions.defaults().withHandlers(Systems.handlers())}, can hold any index of
   * these.
   */
  public static List<CallHandler> handlers() {
    return Stream.concat(
            ALL.stream().flatMap(system -> system.handlers().get().stream()),
            ServiceLoader.load(CallHandler.class, Systems.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get))
        .toList();
  }
}
