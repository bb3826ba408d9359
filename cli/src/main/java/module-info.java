import org.jspecify.annotations.NullMarked;

/** The {@code pando} command: servers, clusters and clients. Further modules add commands to it. */
@NullMarked
@SuppressWarnings("module") // The module that packages are exported to is compiled later.
module pando.cli {
  requires static org.jspecify;
  requires java.logging;
  requires info.picocli;
  requires jdk.management;
  requires me.tongfei.progressbar;
  requires pando.client;
  requires pando.cluster;
  requires pando.doors;
  requires pando.durable;
  requires pando.index;
  requires pando.journal;
  requires pando.map;
  requires pando.metrics;
  requires tools.jackson.core;

  exports pando.cli to
      pando.bench;
  exports pando.cli.cluster to
      pando.bench;
  exports pando.cli.option to
      pando.bench;
  exports pando.cli.text to
      pando.bench;

  opens pando.cli to
      info.picocli;
  opens pando.cli.option to
      info.picocli;

  uses pando.cli.CommandProvider;
}
