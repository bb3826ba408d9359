package pando.cluster;

import java.util.List;

/** One of the changes of a {@link Membership#commit}. */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public sealed interface Write {
  /** Returns the path of the entry. */
  String path();

  /** Makes an entry where there is none. */
  record Create(String path, byte[] bytes) implements Write {}

  /** Makes an entry, where there is none, that goes away with the session. */
  record Announce(String path, byte[] bytes) implements Write {}

  /** Changes an entry that has a version. */
  record Set(String path, int version, byte[] bytes) implements Write {}

  /** Removes an entry that has a version. */
  record Delete(String path, int version) implements Write {}

  /** Changes nothing, and expects that an entry has a version. */
  record Check(String path, int version) implements Write {}

  /**
   * Checks that no entry is too long.
   *
   * @throws IllegalArgumentException if one is
   */
  static void check(List<Write> writes) {
    for (Write write : writes) {
      int bytes =
          switch (write) {
            case Write.Create create -> create.bytes().length;
            case Write.Announce announce -> announce.bytes().length;
            case Write.Set set -> set.bytes().length;
            case Write.Delete _, Write.Check _ -> 0;
          };
      if (bytes > Membership.ENTRY_BYTES_MAX) {
        throw new IllegalArgumentException(
            "entry too long: path=%s, bytes=%s, maximum=%s"
                .formatted(write.path(), bytes, Membership.ENTRY_BYTES_MAX));
      }
    }
  }
}
