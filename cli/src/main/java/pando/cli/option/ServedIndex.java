package pando.cli.option;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import pando.index.IndexSystem;
import pando.index.ServedOptions;
import pando.index.Systems;
import pando.index.bytes.ByteOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The option that says what the compute servers of a cluster serve. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ServedIndex {
  /** What byte strings are, in one line. */
  static final String STRINGS =
      "ordered byte strings, in blocks that are published out of place; a cache of single records";

  @Option(
      names = "--index",
      paramLabel = "NAME",
      defaultValue = ByteOptions.SYSTEM,
      converter = Converter.class,
      completionCandidates = Names.class,
      description = {
        "What is served (default: ${DEFAULT-VALUE}): byte strings, or an index of 8-byte keys and"
            + " values, ${COMPLETION-CANDIDATES}. What each is, and its settings, are listed below."
      })
  private ServedOptions defaults;

  /** Reads what is served: byte strings, or an index of words. */
  public static final class Converter extends NameConverter<ServedOptions> {
    public Converter() {
      super(all(), ServedOptions::system);
    }
  }

  /** All names, for a command's help. */
  public static final class Names implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return all().stream().map(ServedOptions::system).iterator();
    }
  }

  /** Returns the defaults of all that can be served. */
  static List<ServedOptions> all() {
    List<ServedOptions> all = new ArrayList<>(List.of(ByteOptions.defaults()));
    Systems.all().stream().map(IndexSystem::defaults).forEach(all::add);
    return all;
  }

  /** Returns the settings, checked; those of a cache do not matter. */
  public ServedOptions options(SettingOptions settings) {
    return settings.served(defaults, settings.all());
  }

  /** Returns the settings of what has a name, checked; those of a cache do not matter. */
  public static ServedOptions options(
      String system, SettingOptions settings, Map<String, String> some) {
    return settings.served(new Converter().convert(system), some);
  }

  /**
   * Returns options with another size of the cache, checked.
   *
   * @param cache bytes; of byte strings, it has room for a block, or there is none
   */
  @SuppressWarnings("unchecked") // withCacheBytes returns the options' own kind
  public static <O extends ServedOptions> O cached(CommandSpec spec, O options, long cache) {
    if (options instanceof ByteOptions strings && cache != 0) {
      Ranges.check(spec, "--cache", cache, strings.blockBytes(), Long.MAX_VALUE);
    }
    return Ranges.accepted(
        spec,
        () -> {
          O cached = (O) options.withCacheBytes(cache);
          cached.check();
          return cached;
        });
  }
}
