import org.jspecify.annotations.NullMarked;

/**
 * A folder that keeps what was changed: a log, the sorted files that its older parts become, and
 * how all is found again after a crash. Knows no index.
 */
@NullMarked
module pando.journal {
  requires static transitive org.jspecify;
  requires transitive pando.fabric;

  exports pando.journal;
}
