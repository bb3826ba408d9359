package pando.bench.strings;

import java.util.HexFormat;
import pando.bench.records.Mix;

/**
 * Ids of 40 hexadecimal digits, spread evenly and otherwise random, as those of commits are.
 *
 * @param count at least 1
 */
public record MadeIds(long count) implements StringKeySet {
  @Override
  public String key(long place) {
    long step = Long.divideUnsigned(-1, count);
    long first = place * step + Long.remainderUnsigned(Mix.mix(place), step);
    long second = Mix.mix(first);
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(first)
        + hex.toHexDigits(second)
        + hex.toHexDigits((int) Mix.mix(second));
  }
}
