package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.StalledException;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Words;
import pando.index.CorruptNodeException;
import pando.index.host.DescentCounters;
import pando.index.pool.Catalogue;

/** READs and WRITEs pages of the model table, and updates the compute server's copies of them. */
final class ModelPages {
  private static final int READS_MAX = 12;

  /**
   * After so many attempts in a row that find no page at an address, the page counts as damaged.
   */
  private static final int DAMAGES_MAX = 12;

  private static final int RESTARTS_MAX = 2_000;

  private final PageLayout layout;
  private final PoolPlaces places;
  private final ModelTable models;
  private final Worker worker;
  private final MemorySegment memory;
  private final Catalogue catalogue;
  private final long buffer;
  private final DescentCounters counters;
  private final VerbList list = new VerbList();
  private final List<ModelPage> read = new ArrayList<>();

  /**
   * Creates what reads pages.
   *
   * @param buffer where there is room for a page in local memory
   * @param message where there is room for the message of a CALL
   */
  ModelPages(
      RolexServer server, Worker worker, DescentCounters counters, long buffer, long message) {
    this.layout = server.pages;
    this.places = server.places;
    this.models = server.models;
    this.worker = worker;
    this.counters = counters;
    this.memory = worker.memory();
    this.catalogue = new Catalogue(worker, message, server.nodePlaces, server.system);
    this.buffer = buffer;
  }

  /** Finds the model of a key, which may be old by now; reads its page where it is not known. */
  void find(long key, ModelView target) {
    while (!models.find(key, target)) {
      refresh(key);
    }
  }

  /**
   * Reads the page of a key, and those between it and the last one that was known.
   *
   * @throws CorruptNodeException if a page is damaged, or does not follow the one before
   * @throws StalledException if pages change all the time
   */
  void refresh(long key) {
    long before = GlobalAddress.NULL;
    int damages = 0;
    for (int attempt = 0; attempt < RESTARTS_MAX; attempt++) {
      read.clear();
      ModelPage known = models.pageOf(key);
      long first = known == null ? Catalogue.rootAddress(catalogue.root()) : known.address;
      long damaged = readFrom(first, key);
      models.install(read);
      read.clear();
      if (damaged == GlobalAddress.NULL) {
        return;
      }
      damages = damaged == before ? damages + 1 : 0;
      before = damaged;
      if (damages == DAMAGES_MAX) {
        throw new CorruptNodeException(
            damaged, "is not the page of models that is to be there: key=" + key);
      }
      if (known != null) {
        models.drop(known);
      }
      worker.backoff().pauseBriefly(attempt);
    }
    throw new StalledException(
        "no page of models stays: key=" + key + ", restarts=" + RESTARTS_MAX);
  }

  /**
   * Reads pages in a row until one covers a key.
   *
   * @return {@code NULL}, or where there was no page that follows: it is one no more, or damaged
   */
  private long readFrom(long first, long key) {
    for (long address = first; ; ) {
      ModelPage page = read(address);
      long above = read.isEmpty() ? Long.MIN_VALUE : read.getLast().high;
      boolean follows = page != null && (read.isEmpty() || page.low == above + 1);
      if (page == null || !follows || key < page.low) {
        return address;
      }
      read.add(page);
      if (key <= page.high) {
        return GlobalAddress.NULL;
      }
      address = page.next;
    }
  }

  /** Reads a page; returns {@code null} if there is none at the address, or every READ was torn. */
  @Nullable ModelPage read(long address) {
    for (int attempt = 0; attempt < READS_MAX; attempt++) {
      worker.post(toRead(address));
      if (PageLayout.edition(memory, buffer) == PageLayout.RETIRED) {
        return null;
      }
      ModelPage page = takeRead(address);
      if (page != null) {
        return page;
      }
      worker.backoff().pause(attempt);
    }
    return null;
  }

  /** Returns the READ of a page, which {@link #takeRead} takes. */
  VerbList toRead(long address) {
    counters.innerReads++;
    return list.clear().read(address, buffer, layout.pageBytes());
  }

  /** Returns the page that was read; {@code null} if it is not a page, or was torn. */
  @Nullable ModelPage takeRead(long address) {
    long edition = PageLayout.edition(memory, buffer);
    return edition == PageLayout.RETIRED ? null : take(address, edition);
  }

  /**
   * Reads the image of a page that does not count: the one before, or the next one if that is about
   * to count. Returns {@code null} if there is none. Nobody else may change the page.
   */
  @Nullable ModelPage readOther(long address) {
    worker.post(toRead(address));
    return take(address, PageLayout.edition(memory, buffer) + 1);
  }

  private @Nullable ModelPage take(long address, long edition) {
    long image = buffer + layout.imageOffset(edition);
    return layout.isWhole(memory, image, address)
        ? ModelPage.of(memory, image, address, edition, places)
        : null;
  }

  /** Writes a page's next edition: its image, and then the word that makes the image valid. */
  void write(ModelPage page) {
    long image = fill(page);
    int offset = layout.imageOffset(page.edition);
    PageLayout.setEdition(memory, buffer, page.edition);
    list.clear()
        .write(page.address + offset, image, PageLayout.usedBytes(memory, image))
        .write(page.address + PageLayout.EDITION, buffer + PageLayout.EDITION, Long.BYTES);
    worker.post(list);
  }

  /**
   * Retires a page for good. Later bytes at the address of its edition must not make an old image
   * valid again, so both images are made invalid as well.
   */
  void retire(long address) {
    PageLayout.setEdition(memory, buffer, PageLayout.RETIRED);
    long none = buffer + PageLayout.HEADER_BYTES;
    Words.set(memory, none, 0);
    list.clear()
        .write(address + PageLayout.EDITION, buffer + PageLayout.EDITION, Long.BYTES)
        .write(address + layout.modelsOffset(0), none, Long.BYTES)
        .write(address + layout.modelsOffset(1), none, Long.BYTES);
    worker.post(list);
  }

  private long fill(ModelPage page) {
    long image = buffer + layout.imageOffset(page.edition);
    int count = page.models.count();
    for (int i = 0; i < count; i++) {
      PageLayout.setModel(memory, image, i, page.models);
    }
    PageLayout.seal(memory, image, page.address, page.low, page.high, page.next, count);
    return image;
  }
}
