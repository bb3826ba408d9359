package pando.bench.keys;

import pando.bench.records.Keys;

/**
 * Keys of a shape.
 *
 * @param order the places of the records
 * @param shape the keys of the places
 */
record ShapedKeys(Order order, Shape shape) implements Keys {
  @Override
  public long key(long record) {
    return shape.key(order.place(record));
  }

  @Override
  public long record(long key) {
    long place = shape.place(key);
    return place == NONE ? NONE : order.record(place);
  }
}
