package pando.fabric.shm;

import java.io.IOException;
import java.io.StringReader;
import java.util.Properties;
import pando.fabric.layout.ServerLayout;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolOptions;

/**
 * What a memory server publishes, one line of text for each part.
 *
 * @param number number of the memory server in its fabric
 * @param owner its process
 * @param descriptor the memory file in that process
 * @param bytesPerServer size of the pool
 * @param chunkBytes size of a chunk
 * @param incarnation differs each time a memory server starts
 */
record RegistryEntry(
    int number, long owner, int descriptor, long bytesPerServer, int chunkBytes, long incarnation) {

  /**
   * Returns the layout of its memory.
   *
   * @throws IllegalArgumentException if no memory server has such sizes
   */
  ServerLayout layout() {
    PoolOptions options =
        PoolOptions.defaults().withBytesPerServer(bytesPerServer).withChunkBytes(chunkBytes);
    return MemoryServer.layout(options);
  }

  /** Returns the text to publish. */
  String toText() {
    return "number="
        + number
        + "\nowner="
        + owner
        + "\ndescriptor="
        + descriptor
        + "\nbytesPerServer="
        + bytesPerServer
        + "\nchunkBytes="
        + chunkBytes
        + "\nincarnation="
        + incarnation
        + "\n";
  }

  /**
   * Reads a published text.
   *
   * @throws IllegalArgumentException if a part is missing or out of range
   */
  static RegistryEntry parse(String text) {
    Properties parts = new Properties();
    try {
      parts.load(new StringReader(text));
    } catch (IOException e) {
      throw new AssertionError("a string can be read", e);
    }
    RegistryEntry entry =
        new RegistryEntry(
            Math.toIntExact(number(parts, "number", 0, PoolOptions.MEMORY_SERVERS_MAX - 1)),
            number(parts, "owner", Long.MIN_VALUE, Long.MAX_VALUE),
            Math.toIntExact(number(parts, "descriptor", 0, Integer.MAX_VALUE)),
            number(parts, "bytesPerServer", 1, Long.MAX_VALUE),
            Math.toIntExact(number(parts, "chunkBytes", 1, Integer.MAX_VALUE)),
            number(parts, "incarnation", Long.MIN_VALUE, Long.MAX_VALUE));
    ServerLayout layout = entry.layout();
    assert layout.chunkBytes() == entry.chunkBytes;
    return entry;
  }

  private static long number(Properties parts, String name, long min, long max) {
    String text = parts.getProperty(name, "");
    long number;
    try {
      number = Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("not a number: " + name + "='" + text + "'", e);
    }
    if (number < min || number > max) {
      throw new IllegalArgumentException("out of range: " + name + "=" + number);
    }
    return number;
  }
}
