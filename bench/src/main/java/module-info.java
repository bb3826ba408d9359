import org.jspecify.annotations.NullMarked;

/** The {@code pando} command: the demo, benchmarks, the simulator, and servers. */
@NullMarked
module pando.bench {
  requires static org.jspecify;
  requires HdrHistogram;
  requires info.picocli;
  requires java.logging;
  requires java.xml;
  requires jdk.management;
  requires jmh.core;
  requires pando.baselines;
  requires pando.client;
  requires pando.cluster;
  requires pando.doors;
  requires pando.index;
  requires pando.map;
  requires pando.metrics;
  requires pando.sim;
  requires me.tongfei.progressbar;
  requires tools.jackson.core;

  opens pando.bench to
      info.picocli;
}
