package pando.cluster;

import java.util.UUID;
import pando.durable.ClusterFolder;
import pando.durable.NextGeneration;
import pando.journal.DataFolder;

/**
 * Which data folder the next generation of a cluster begins with, or why a person has to choose
 * one.
 *
 * @param from number of the memory server with whose folder it begins, whatever that has; {@value
 *     #NEWEST} for the newest one
 * @param cluster id that the folders get where a person has named one: folders from before are of
 *     another cluster then, and never taken for newer or older ones
 * @param why no generation begins before a person asks for a rebuild; empty if one may begin
 */
public record Rebuild(int from, UUID cluster, String why) {
  /** In place of a memory server. */
  public static final int NEWEST = NextGeneration.NEWEST;

  static final char KIND = 'b';

  /** Nobody has chosen a folder, or has to. */
  public static final Rebuild NONE = new Rebuild(NEWEST, DataFolder.NO_CLUSTER, "");

  /**
   * Returns the choice of a memory server's folder.
   *
   * @throws IllegalArgumentException if the memory server has none
   */
  static Rebuild from(int memoryServer, int memoryServers) {
    int folders = Math.min(memoryServers, ClusterFolder.FOLDERS_MAX);
    if (memoryServer < 0 || memoryServer >= folders) {
      throw new IllegalArgumentException(
          "a memory server without a data folder: memoryServer=%s, least=0, greatest=%s"
              .formatted(memoryServer, folders - 1));
    }
    return new Rebuild(memoryServer, UUID.randomUUID(), "");
  }

  /** Returns that a choice is awaited. */
  static Rebuild awaited(String why) {
    int length = Math.min(why.length(), EntryWriter.TEXT_BYTES_MAX / 4);
    return new Rebuild(NEWEST, DataFolder.NO_CLUSTER, why.substring(0, length));
  }

  /** Returns whether a person has chosen a folder, or has to. */
  boolean isMade() {
    return from != NEWEST || isAwaited();
  }

  /** Returns whether no generation begins before a person asks for it. */
  public boolean isAwaited() {
    return !why.isEmpty();
  }

  /** Returns why no generation begins. Only if {@link #isAwaited}. */
  public String problem() {
    return "no generation begins before a rebuild: " + why;
  }

  byte[] encode() {
    return new EntryWriter(KIND)
        .number(from)
        .word(cluster.getMostSignificantBits())
        .word(cluster.getLeastSignificantBits())
        .text(why)
        .bytes();
  }

  static Rebuild decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader ->
            new Rebuild(
                reader.number(NEWEST, ClusterFolder.FOLDERS_MAX - 1),
                new UUID(reader.word(), reader.word()),
                reader.text()));
  }
}
