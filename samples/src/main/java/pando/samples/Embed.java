package pando.samples;

import pando.fabric.Fabric;
import pando.fabric.local.LocalFabric;
import pando.fabric.server.PoolOptions;
import pando.index.RangeIndex;
import pando.index.Session;
import pando.index.Systems;
import pando.index.orca.OrcaIndex;
import pando.index.orca.OrcaOptions;

/** An index whose memory servers are in this process. */
public final class Embed {
  private Embed() {}

  /** Stores five squares, finds one, the greatest below a key, and a range. */
  public static void main(String[] args) {
    // what memory servers can be asked to do, for an index of any system
    PoolOptions pool = PoolOptions.defaults().withHandlers(Systems.handlers());
    try (Fabric fabric = LocalFabric.open(pool);
        RangeIndex index = OrcaIndex.create(fabric, OrcaOptions.defaults());
        Session session = index.session()) { // one for each thread
      for (long key = 10; key <= 50; key += 10) {
        session.put(key, key * key);
      }
      if (session.get(30)) {
        System.out.println("30 -> " + session.value());
      }
      if (session.floor(49)) {
        System.out.println("at or below 49: " + session.key() + " -> " + session.value());
      }
      session.scan(
          15,
          45,
          100,
          (key, value) -> {
            System.out.println("scan: " + key + " -> " + value);
            return true; // false ends the scan
          });
      System.out.println(index.verbs());
    }
  }
}
