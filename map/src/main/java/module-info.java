import org.jspecify.annotations.NullMarked;

/** Keys and values of Java types over an index. */
@NullMarked
module pando.map {
  requires static transitive org.jspecify;
  requires transitive pando.index;

  exports pando.map.codec;
}
