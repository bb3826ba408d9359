package pando.map;

import java.nio.file.Path;
import pando.index.bytes.ByteStrings;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What a {@link Pando} opens: where the entries of its maps are. Not thread-safe. */
interface Backing extends AutoCloseable {
  /** Makes the map without a name. */
  <K, V> PandoMap<K, V> map(KeyCodec<K> keys, ValueCodec<V> values);

  /**
   * Returns the byte strings that named maps share with it.
   *
   * @throws IllegalStateException if the index is one of words
   */
  ByteStrings strings();

  /**
   * Returns once all that was acknowledged is on the disk.
   *
   * @throws IllegalStateException if there is no data folder
   */
  default void sync() {
    throw new IllegalStateException(
        "nothing is kept on a disk here: open a data folder, such as local:/var/lib/app");
  }

  /**
   * Copies the data folder to another place.
   *
   * @throws IllegalStateException if there is none
   */
  default void backup(Path to) {
    throw new IllegalStateException("there is no data folder to copy: to=" + to);
  }

  /** Closes what was opened and made for the maps, which are closed. */
  @Override
  void close();
}
