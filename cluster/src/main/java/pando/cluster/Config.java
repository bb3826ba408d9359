package pando.cluster;

import java.util.Map;
import java.util.TreeMap;

/**
 * What all servers of a cluster need to agree on. Written once, when the index is there.
 *
 * @param system name of the index's system
 * @param settings of the index that differ from the system's defaults, by name; copied
 * @param memoryServers how many there are
 * @param leaseMillis for how long answers from caches count, see {@link RenewedLease}
 * @param log where the compute servers of a system log that {@linkplain
 *     pando.index.ServedOptions#isLogged is logged}
 * @param generation how often the index was made of what the data folders had, counted from 1; 0
 *     where there are none
 */
public record Config(
    String system,
    Map<String, String> settings,
    int memoryServers,
    int leaseMillis,
    LogMode log,
    long generation) {
  static final char KIND = 'c';
  private static final int SETTINGS_MAX = 256;
  private static final int MEMORY_SERVERS_MAX = 64;
  private static final int LEASE_MILLIS_MAX = 60_000;

  /**
   * Keeps a copy.
   *
   * @throws IllegalArgumentException if there are no or too many memory servers, or the lease is
   *     not 1 to 60,000 milliseconds long
   */
  public Config {
    settings = Map.copyOf(settings);
    check("memoryServers", memoryServers, MEMORY_SERVERS_MAX);
    check("leaseMillis", leaseMillis, LEASE_MILLIS_MAX);
  }

  /** Makes a configuration whose compute servers log at memory servers. */
  public Config(String system, Map<String, String> settings, int memoryServers, int leaseMillis) {
    this(system, settings, memoryServers, leaseMillis, LogMode.MEMORY, 0);
  }

  /** Returns this as that of a generation. */
  Config withGeneration(long next) {
    return new Config(system, settings, memoryServers, leaseMillis, log, next);
  }

  private static void check(String name, int value, int greatest) {
    if (value < 1 || value > greatest) {
      throw new IllegalArgumentException(
          "out of range: " + name + "=" + value + ", least=1, greatest=" + greatest);
    }
  }

  byte[] encode() {
    EntryWriter writer =
        new EntryWriter(KIND)
            .text(system)
            .number(memoryServers)
            .number(leaseMillis)
            .text(log.toString())
            .word(generation)
            .number(settings.size());
    new TreeMap<>(settings).forEach((name, value) -> writer.text(name).text(value));
    return writer.bytes();
  }

  static Config decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader -> {
          String system = reader.text();
          int memoryServers = reader.number();
          int leaseMillis = reader.number();
          LogMode log = LogMode.of(reader.text());
          long generation = reader.word();
          Map<String, String> settings = new TreeMap<>();
          for (int left = reader.number(0, SETTINGS_MAX); left > 0; left--) {
            settings.put(reader.text(), reader.text());
          }
          return new Config(system, settings, memoryServers, leaseMillis, log, generation);
        });
  }
}
