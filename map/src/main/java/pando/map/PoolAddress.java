package pando.map;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.fabric.shm.ShmFabric;
import pando.index.IndexOptions;
import pando.index.Systems;
import pando.index.settings.DidYouMean;
import pando.index.settings.Setting;
import pando.journal.LogOptions;

/**
 * Where a pool is, and how large: {@code local:?size=2GiB&cache=256MiB}, {@code
 * local:/var/lib/app?sync=always}, or {@code shm:pool0}.
 *
 * @param place {@code local:} and perhaps a data folder, or {@code shm:} and names
 * @param settings what is behind the question mark, by name
 */
record PoolAddress(String place, Map<String, String> settings) {
  private static final String LOCAL = "local:";
  private static final String SHM = "shm:";
  private static final String CACHE = "cache";
  private static final String SYNC = "sync";
  private static final Setting SIZE = Setting.size("size", "0", 0x1p46, "bytes of a local pool");

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException if it is none
   */
  static PoolAddress parse(String address) {
    int mark = address.indexOf('?');
    String place = mark < 0 ? address : address.substring(0, mark);
    if (!place.startsWith(LOCAL) && !place.startsWith(SHM)) {
      throw new IllegalArgumentException(
          "no such pool: pool="
              + address
              + ", known: local:, local:DIR, shm:NAME[,NAME...] and client:HOST:PORT[,HOST:PORT...]"
              + DidYouMean.suggest(place, List.of(LOCAL, SHM, Pando.CLIENT)));
    }
    Map<String, String> settings = new TreeMap<>();
    for (String setting : mark < 0 ? new String[0] : address.substring(mark + 1).split("&", -1)) {
      int equals = setting.indexOf('=');
      String name = equals < 0 ? setting : setting.substring(0, equals);
      List<String> known = known(place);
      String wrong =
          !known.contains(name)
              ? "no such setting of this pool"
              : equals < 0
                  ? "a setting without a value"
                  : settings.containsKey(name) ? "a setting that is there twice" : null;
      if (wrong != null) {
        throw new IllegalArgumentException(
            "%s: setting=%s, pool=%s, known=%s%s"
                .formatted(wrong, setting, address, known, DidYouMean.suggest(name, known)));
      }
      settings.put(name, setting.substring(equals + 1));
    }
    return new PoolAddress(place, settings);
  }

  private static List<String> known(String place) {
    if (!place.startsWith(LOCAL)) {
      return List.of(CACHE);
    }
    return place.equals(LOCAL) ? List.of(SIZE.name(), CACHE) : List.of(SIZE.name(), CACHE, SYNC);
  }

  /** Opens the pool, for a map of a new index. */
  Pando open(IndexOptions options) {
    String cache = settings.get(CACHE);
    IndexOptions cached = cache == null ? options : options.with("cache-bytes", cache);
    cached.check();
    boolean isFolder = place.startsWith(LOCAL) && !place.equals(LOCAL);
    return new Pando(place, isFolder ? folder(cached) : new PoolBacking(connect(), cached));
  }

  private FolderBacking folder(IndexOptions options) {
    Path path = Path.of(place.substring(LOCAL.length()));
    LogOptions log = LogOptions.ofSync(settings.get(SYNC));
    return new FolderBacking(path, log, connect(), options);
  }

  private Fabric connect() {
    PoolOptions options = PoolOptions.defaults().withHandlers(Systems.handlers());
    if (place.startsWith(SHM)) {
      return ShmFabric.attach(
          List.of(place.substring(SHM.length()).split(",", -1)), options.seed());
    }
    String size = settings.get(SIZE.name());
    return LocalFabric.open(
        options.withBytes(size == null ? PoolOptions.bytesOfThisMachine() : bytes(options, size)));
  }

  private static long bytes(PoolOptions options, String size) {
    double bytes = SIZE.parse(size);
    SIZE.checkAtLeast(bytes, (double) options.memoryServers() * options.chunkBytes());
    return (long) bytes;
  }
}
