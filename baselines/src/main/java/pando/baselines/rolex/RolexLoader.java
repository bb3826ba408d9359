package pando.baselines.rolex;

import java.util.Arrays;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.host.DescentCounters;
import pando.index.load.FenceSample;
import pando.index.load.Loader;
import pando.index.pool.Catalogue;
import pando.index.pool.Workers;

/** Builds the models of a whole index, and their table, out of entries in ascending order. */
final class RolexLoader implements Loader, RunBuilder.Sink {
  private final RolexServer server;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final ModelPages pages;
  private final RunBuilder builder;
  private final long message;
  private final int perPage;
  private final FenceSample fences = new FenceSample();

  private final ModelArrays models = new ModelArrays(1024);

  /** The places of runs that were allocated; of those at the end there is no model yet. */
  private long[] places = new long[1024];

  private int allocated;
  private boolean started;

  private long[] pageAddresses = new long[64];
  private int pageCount;

  RolexLoader(RolexServer server, Fabric fabric, double fill) {
    this.server = server;
    long ofPages = server.runs.bytes(server.options.leavesMax());
    this.message = ofPages + server.pages.pageBytes();
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.pages = new ModelPages(server, worker, new DescentCounters(), ofPages, message);
    this.builder = new RunBuilder(server, worker, 0, message, fill, this);
    // Room for the models that retraining adds.
    this.perPage = Math.max(1, server.pages.capacity() * 3 / 4);
  }

  @Override
  public int perLeaf() {
    return builder.perLeaf();
  }

  @Override
  public void startLeaf(long low) {
    if (started) {
      builder.finish(low - 1);
      builder.start(low);
    } else {
      start();
    }
  }

  @Override
  public void add(long key, long value) {
    if (!started) {
      start();
    }
    builder.add(key, value);
  }

  private void start() {
    started = true;
    builder.start(Long.MIN_VALUE);
  }

  @Override
  public long finish() {
    builder.finish(Long.MAX_VALUE);
    int count = (models.count() + perPage - 1) / perPage;
    pageAddresses = new long[count];
    for (; pageCount < count; pageCount++) {
      pageAddresses[pageCount] =
          server.allocator.allocatePage(worker, message, server.nextMemoryServer());
    }
    for (int page = 0; page < count; page++) {
      write(page, page * perPage, Math.min((page + 1) * perPage, models.count()));
    }
    return pageAddresses[0] | Catalogue.ROOT_LEVEL_MIN;
  }

  private void write(int page, int from, int to) {
    boolean last = page == pageAddresses.length - 1;
    ModelPage image =
        new ModelPage(
            pageAddresses[page],
            0,
            last ? Long.MAX_VALUE : models.lows[to] - 1,
            last ? GlobalAddress.NULL : pageAddresses[page + 1],
            models.slice(from, to));
    pages.write(image);
  }

  @Override
  public long allocated(long place) {
    if (allocated == places.length) {
      places = Arrays.copyOf(places, 2 * allocated);
    }
    places[allocated++] = place;
    return place;
  }

  @Override
  public void built(long low, long place, long line, long stamp) {
    models.add(low, place, line, stamp);
  }

  @Override
  public void leaf(long low) {
    fences.add(low);
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  @Override
  public void abandon(Throwable failure) {
    Loader.giveBackAll(failure, () -> allocated + pageCount > 0, this::giveBackOne);
    models.clear();
  }

  private void giveBackOne() {
    if (allocated > 0) {
      server.allocator.freeRun(worker, message, places[--allocated]);
    } else {
      long page = pageAddresses[--pageCount];
      // A session may know the page by an old pointer, and would come to the freed runs.
      pages.retire(page);
      server.allocator.freePage(worker, message, page);
    }
  }

  @Override
  public VerbCounters verbs() {
    return worker.counters();
  }

  @Override
  public void close() {
    Closing.all(worker::close, registered::close);
  }
}
