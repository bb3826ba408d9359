import org.jspecify.annotations.NullMarked;

/**
 * What an index, a map or a door counts, as others read it: Micrometer's meters, Prometheus text,
 * health, and a page for people.
 */
@NullMarked
module pando.metrics {
  requires static org.jspecify;
  requires java.management;
  requires jdk.httpserver;
  requires transitive micrometer.core;
  requires micrometer.registry.prometheus;
  requires transitive pando.index;
  requires tools.jackson.core;

  exports pando.metrics;
}
