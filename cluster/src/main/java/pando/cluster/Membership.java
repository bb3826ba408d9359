package pando.cluster;

import java.util.List;
import java.util.Optional;

/**
 * A cluster's small common memory, which a coordinator keeps: entries by path, each with a version
 * that grows with every change. A process has a session; what it {@linkplain Write.Announce
 * announces} goes away with it.
 *
 * <p>All changes go through {@link #commit}, which compares versions, so one that rests on old
 * entries is refused. What {@link #read} and {@link #list} return is at least as new as the last
 * commit of this session, and as what they returned before.
 *
 * <p>Paths are relative to the cluster, of letters, digits, hyphens and slashes: {@code config},
 * {@code members/compute/3}. {@link Folders} lists those that have entries below them. Thread-safe.
 */
public interface Membership extends AutoCloseable {
  /** Most bytes of an entry; two of these fit into one request to ZooKeeper, of 1 MiB. */
  int ENTRY_BYTES_MAX = 320 << 10;

  /** How a session is. */
  enum Status {
    /** The coordinator answers. */
    CONNECTED,

    /**
     * The coordinator does not answer: this process goes on with what it has, and starts no change.
     * The session may have ended, which only the coordinator knows.
     */
    SUSPENDED,

    /** The session has ended, and with it all that it announced. Another one can be opened. */
    LOST
  }

  /**
   * Returns an entry, if there is one.
   *
   * @throws CoordinatorLostException if the coordinator does not answer
   * @throws SessionLostException if the session has ended
   */
  Optional<Entry> read(String path);

  /**
   * Returns the names of the entries right below a path, in order.
   *
   * @throws CoordinatorLostException if the coordinator does not answer
   * @throws SessionLostException if the session has ended
   */
  List<String> list(String folder);

  /**
   * Makes several changes, all or none.
   *
   * @return whether they were made; {@code false} if one of them finds other than it expects
   * @throws CoordinatorLostException if the coordinator does not answer: they may have been made,
   *     or be made within the time after which a session ends
   * @throws SessionLostException if the session has ended
   * @throws IllegalArgumentException if an entry is longer than {@link #ENTRY_BYTES_MAX}
   */
  boolean commit(List<Write> writes);

  /**
   * Runs an action after changes, of entries or of the session, by a thread of the coordinator's
   * client. It is a hint: several changes may cause one run, and it may run for none. It must not
   * wait.
   */
  void watch(Runnable onChange);

  /** Has an action run no more; does nothing if it is not {@linkplain #watch watching}. */
  void unwatch(Runnable onChange);

  /** Returns how the session is. */
  Status status();

  /** Ends the session. */
  @Override
  void close();
}
