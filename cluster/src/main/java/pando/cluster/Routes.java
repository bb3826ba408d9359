package pando.cluster;

import java.util.ArrayList;
import java.util.List;
import pando.index.IndexOptions;
import pando.index.Partitioning;

/**
 * Which compute server serves which keys, and where it is: a copy of the pool's partition table,
 * which may be old. A server that is asked for another's key says so.
 *
 * @param epoch of the partition table
 * @param ranges in the order of their keys; copied
 */
public record Routes(long epoch, List<Range> ranges) {
  static final char KIND = 'r';

  /**
   * A range of keys.
   *
   * @param low its least key; it ends before the next range
   * @param server the compute server that owns it
   * @param address where that serves clients, {@code HOST:PORT}; empty if nowhere
   */
  public record Range(long low, int server, String address) {}

  /**
   * Keeps a copy.
   *
   * @throws IllegalArgumentException if the ranges do not cover all keys
   */
  public Routes {
    ranges = List.copyOf(ranges);
    if (ranges.isEmpty() || ranges.getFirst().low() != Long.MIN_VALUE) {
      throw new IllegalArgumentException("routes do not begin with the least key: " + ranges);
    }
    for (int i = 1; i < ranges.size(); i++) {
      if (ranges.get(i).low() <= ranges.get(i - 1).low()) {
        throw new IllegalArgumentException("routes out of order: " + ranges);
      }
    }
  }

  /** Returns the routes of a partition table. */
  static Routes of(Partitioning table, List<Member> members) {
    List<Range> ranges = new ArrayList<>();
    for (int range = 0; range < table.servers(); range++) {
      int owner = table.ownerOfRange(range);
      String address =
          members.stream()
              .filter(member -> member.number() == owner)
              .map(Member::address)
              .findFirst()
              .orElse("");
      ranges.add(new Range(table.lowOfRange(range), owner, address));
    }
    return new Routes(table.epoch(), ranges);
  }

  /** Returns the range that a key is in. */
  public Range find(long key) {
    Range found = ranges.getFirst();
    for (Range range : ranges) {
      if (range.low() > key) {
        break;
      }
      found = range;
    }
    return found;
  }

  byte[] encode() {
    EntryWriter writer = new EntryWriter(KIND).word(epoch).number(ranges.size());
    ranges.forEach(range -> writer.word(range.low()).number(range.server()).text(range.address()));
    return writer.bytes();
  }

  static Routes decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader -> {
          long epoch = reader.word();
          List<Range> ranges = new ArrayList<>();
          for (int left = reader.number(1, IndexOptions.COMPUTE_SERVERS_MAX); left > 0; left--) {
            ranges.add(
                new Range(reader.word(), reader.number(0, Member.NUMBER_MAX), reader.text()));
          }
          return new Routes(epoch, ranges);
        });
  }
}
