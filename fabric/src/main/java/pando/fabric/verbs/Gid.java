package pando.fabric.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * An address of a card's port on a network of Ethernet: 16 bytes, big endian, as IPv6 has them.
 *
 * @param index in the port's table
 * @param high its first 8 bytes
 * @param low its last 8 bytes
 */
record Gid(int index, long high, long low) {
  private static final Path CARDS = Path.of("/sys/class/infiniband");
  private static final String TYPE = "RoCE v2";

  /** How an IPv4 address is written as one of IPv6: ::ffff:a.b.c.d. */
  private static final long MAPPED_IPV4 = 0xffffL;

  /** Returns the addresses of a port by which RoCE v2 reaches it, those of IPv4 first. */
  static List<Gid> of(String card, int port) {
    List<Gid> found = new ArrayList<>();
    Path folder = CARDS.resolve(card).resolve("ports").resolve(String.valueOf(port));
    for (int index = 0; index < 256; index++) {
      if (read(folder.resolve("gid_attrs/types/" + index)).equals(TYPE)) {
        Gid gid = parse(index, read(folder.resolve("gids/" + index)));
        found.add(gid.isIpv4() ? 0 : found.size(), gid);
      }
    }
    return found;
  }

  /** Parses eight groups of four hexadecimal digits. */
  static Gid parse(int index, String text) {
    byte[] bytes = HexFormat.of().parseHex(text.replace(":", ""));
    ByteBuffer words = ByteBuffer.wrap(bytes);
    return new Gid(index, words.getLong(), words.getLong());
  }

  boolean isIpv4() {
    return high == 0 && low >>> Integer.SIZE == MAPPED_IPV4;
  }

  @Override
  public String toString() {
    if (isIpv4()) {
      return String.format(
          Locale.ROOT,
          "%d.%d.%d.%d",
          (low >>> 24) & 0xff,
          (low >>> 16) & 0xff,
          (low >>> 8) & 0xff,
          low & 0xff);
    }
    return HexFormat.of().withDelimiter(":").formatHex(bytes());
  }

  private byte[] bytes() {
    return ByteBuffer.allocate(16).putLong(high).putLong(low).array();
  }

  /** Returns the text of a file of the system; empty where there is none, as for unused places. */
  private static String read(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }
}
