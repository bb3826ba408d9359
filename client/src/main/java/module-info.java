import org.jspecify.annotations.NullMarked;

/** Sessions over the network: clients, and the compute servers' side of them. */
@NullMarked
module pando.client {
  requires static transitive org.jspecify;
  requires transitive pando.index;

  exports pando.client;
  exports pando.client.server;
}
