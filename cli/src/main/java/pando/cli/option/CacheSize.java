package pando.cli.option;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * The size of each compute server's cache: in bytes, or, as in the DEX paper, as a share of the
 * records at 16 bytes each.
 *
 * @param bytes the size, if {@code share} is 0
 * @param share of the records' bytes, 0 to 1
 */
public record CacheSize(long bytes, double share) {
  private static final int RECORD_BYTES = 2 * Long.BYTES;

  /**
   * Returns the bytes of each compute server's cache.
   *
   * @param least minimum that the index needs; a share of few records is raised to it
   */
  public long bytesPerServer(long records, long least) {
    return share == 0 ? bytes : Math.max(least, Math.round(share * records * RECORD_BYTES));
  }

  @Override
  public String toString() {
    return share == 0 ? bytes + " bytes" : 100 * share + "%";
  }

  /** Reads {@code 25600KiB} or {@code 8%}. */
  public static final class Converter implements ITypeConverter<CacheSize> {
    @Override
    public CacheSize convert(String text) {
      return text.endsWith("%")
          ? new CacheSize(0, share(text, text.substring(0, text.length() - 1)))
          : new CacheSize(Quantity.parse(text), 0);
    }

    private static double share(String text, String percent) {
      try {
        double share = Double.parseDouble(percent) / 100;
        if (share > 0 && share <= 1) {
          return share;
        }
      } catch (NumberFormatException e) {
        // Reported below, like a number out of range.
      }
      throw new TypeConversionException(
          "'" + text + "' is not a share above 0 % and at most 100 %, such as 8%");
    }
  }
}
