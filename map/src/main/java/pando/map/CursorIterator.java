package pando.map;

import java.util.Iterator;
import java.util.function.Function;

/** What a cursor goes to, one by one: keys, values or entries. */
final class CursorIterator<K, V, T> implements Iterator<T> {
  private final Cursor<K, V> cursor;
  private final Function<Cursor<K, V>, T> element;

  CursorIterator(Cursor<K, V> cursor, Function<Cursor<K, V>, T> element) {
    this.cursor = cursor;
    this.element = element;
  }

  @Override
  public boolean hasNext() {
    return cursor.hasNext();
  }

  @Override
  public T next() {
    cursor.advance();
    return element.apply(cursor);
  }

  @Override
  public void remove() {
    cursor.remove();
  }
}
