import org.jspecify.annotations.NullMarked;

/** Shows, measures and checks Pando: commands for the demo, benchmarks and the simulator. */
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
  requires pando.cli;
  requires pando.client;
  requires pando.cluster;
  requires pando.doors;
  requires pando.durable;
  requires pando.index;
  requires pando.map;
  requires pando.metrics;
  requires pando.sim;
  requires tools.jackson.core;

  opens pando.bench to
      info.picocli;

  provides pando.cli.CommandProvider with
      pando.bench.BenchCommands;
}
