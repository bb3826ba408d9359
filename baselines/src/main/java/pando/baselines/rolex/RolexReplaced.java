package pando.baselines.rolex;

import java.util.ArrayList;
import java.util.List;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.host.DescentCounters;
import pando.index.host.Replaced;
import pando.index.pool.Catalogue;
import pando.index.pool.PoolChange;

/** The models without entries that a bulk load replaces, whose leaves it takes back. */
final class RolexReplaced implements Replaced {
  private final RolexServer server;
  private final Worker worker;
  private final PoolChange change;
  private final ModelPages pages;
  private final List<ModelPage> read = new ArrayList<>();

  RolexReplaced(PoolChange change, RolexServer server) {
    this.change = change;
    this.server = server;
    this.worker = change.worker();
    this.pages = new ModelPages(server, worker, new DescentCounters(), 0, change.message());
  }

  @Override
  public void check(long root) {
    long address = Catalogue.rootAddress(root);
    while (address != GlobalAddress.NULL) {
      ModelPage page = pages.read(address);
      if (page == null) {
        throw new CorruptNodeException(address, "is no page of models");
      }
      read.add(page);
      address = page.next;
    }
    read.forEach(this::checkEmpty);
  }

  private void checkEmpty(ModelPage page) {
    for (long place : page.models.places) {
      for (int i = 0; i < RunLayout.leaves(place); i++) {
        long leaf = server.runs.leafAddress(place, i);
        worker.read(leaf, 0, RolexLeafLayout.HEADER_BYTES);
        if (RolexLeafLayout.count(worker.memory(), 0) > 0
            || RolexLeafLayout.link(worker.memory(), 0) != GlobalAddress.NULL) {
          throw new IllegalStateException(
              "the index is not empty: leaf=" + GlobalAddress.toString(leaf));
        }
      }
    }
  }

  /**
   * Retires and frees every run and page, so that sessions with old models detect that they are
   * gone.
   */
  @Override
  public void free() {
    for (ModelPage page : read) {
      for (long place : page.models.places) {
        retire(place);
        server.allocator.freeRun(worker, change.message(), place);
      }
      pages.retire(page.address);
      server.allocator.freePage(worker, change.message(), page.address);
    }
  }

  private void retire(long place) {
    Words.set(worker.memory(), 0, RolexLeafLayout.RETIRED);
    worker.write(RunLayout.address(place) + RunLayout.GATE, 0, Long.BYTES);
    for (int i = 0; i < RunLayout.leaves(place); i++) {
      worker.write(server.runs.leafAddress(place, i) + RolexLeafLayout.CHECKSUM, 0, Long.BYTES);
    }
  }
}
