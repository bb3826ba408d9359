import org.jspecify.annotations.NullMarked;

/** A map over an index, and keys and values of Java types as bytes. */
@NullMarked
module pando.map {
  requires static transitive org.jspecify;
  requires transitive pando.client;
  requires transitive pando.durable;
  requires transitive pando.index;

  exports pando.map;
  exports pando.map.codec;
}
