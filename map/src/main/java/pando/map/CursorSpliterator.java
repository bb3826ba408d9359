package pando.map;

import java.util.Comparator;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** As {@link CursorIterator}; splits where the partitions of the index do, if it goes up. */
final class CursorSpliterator<K, V, T> implements Spliterator<T> {
  private final Cursor<K, V> cursor;
  private final Function<Cursor<K, V>, T> element;
  private final int characteristics;
  private final @Nullable Comparator<? super T> order;

  /**
   * Makes a spliterator.
   *
   * @param characteristics further ones; with {@link Spliterator#SORTED}, {@code order} counts
   */
  CursorSpliterator(
      Cursor<K, V> cursor,
      Function<Cursor<K, V>, T> element,
      int characteristics,
      @Nullable Comparator<? super T> order) {
    this.cursor = cursor;
    this.element = element;
    this.characteristics = characteristics | ORDERED | NONNULL | CONCURRENT;
    this.order = order;
  }

  @Override
  public boolean tryAdvance(Consumer<? super T> action) {
    if (!cursor.hasNext()) {
      return false;
    }
    cursor.advance();
    action.accept(element.apply(cursor));
    return true;
  }

  @Override
  public @Nullable Spliterator<T> trySplit() {
    Cursor<K, V> front = cursor.split();
    return front == null ? null : new CursorSpliterator<>(front, element, characteristics, order);
  }

  @Override
  public long estimateSize() {
    return Long.MAX_VALUE;
  }

  @Override
  public int characteristics() {
    return characteristics;
  }

  @Override
  public @Nullable Comparator<? super T> getComparator() {
    if (!hasCharacteristics(SORTED)) {
      throw new IllegalStateException("not sorted");
    }
    return order;
  }
}
