import org.jspecify.annotations.NullMarked;

/** Programs that embed the index, as short as they can be. */
@NullMarked
module pando.samples {
  requires static org.jspecify;
  requires pando.index;
  requires pando.map;
}
