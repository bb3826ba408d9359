package pando.cluster;

import java.util.List;

/** Checks of what is committed. */
public final class Writes {
  private Writes() {}

  /**
   * Checks that no entry is too long.
   *
   * @throws IllegalArgumentException if one is
   */
  public static void check(List<Write> writes) {
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
