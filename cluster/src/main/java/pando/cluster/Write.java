package pando.cluster;

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
}
