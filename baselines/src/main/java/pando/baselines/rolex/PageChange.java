package pando.baselines.rolex;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.GlobalAddress;
import pando.fabric.Worker;

/**
 * Replaces models of a page that is locked: the page's next image is prepared, and pages that it
 * takes besides are written aside, locked. Where few models stay, the next page is absorbed. Used
 * again and again.
 */
final class PageChange {
  private final RolexServer server;
  private final RolexContext context;
  private final ModelPages pages;
  private final Worker worker;
  private final int capacity;

  /** The pages in reverse order, the one that is replaced last. */
  private final List<ModelPage> written = new ArrayList<>();

  private @Nullable ModelPage absorbed;
  private boolean wasInTheWay;

  PageChange(RolexContext context) {
    this.server = context.server;
    this.context = context;
    this.pages = context.pages;
    this.worker = context.worker;
    this.capacity = server.pages.capacity();
  }

  /** Forgets about an earlier change. */
  void reset() {
    written.clear();
    absorbed = null;
    wasInTheWay = false;
  }

  /**
   * Returns whether a page that keeps so many models is to absorb the next one, as far as that is
   * known here.
   */
  boolean absorbsNext(ModelPage page, int kept) {
    @Nullable ModelPage next =
        page.next == GlobalAddress.NULL ? null : server.models.pageOf(page.high + 1);
    return next != null && next.address == page.next && absorbs(kept, next.models.count());
  }

  private boolean absorbs(int kept, int next) {
    int few = Math.max(1, capacity / 4);
    return Math.min(kept, next) <= few && kept + next <= capacity * 3 / 4;
  }

  /**
   * Locks and reads the next page if the page is to absorb it, with so many models in place of some
   * in a row. Does not wait for the lock.
   *
   * @return whether it is absorbed
   */
  boolean lockNext(ModelPage page, int from, int to, int built) {
    int kept = kept(page, from, to, built);
    if (!absorbsNext(page, kept)) {
      return false;
    }
    if (!context.locks.tryLock(page.next, false)) {
      wasInTheWay = true;
      return false;
    }
    ModelPage next = pages.read(page.next);
    if (next != null && absorbs(kept, next.models.count())) {
      absorbed = next;
    }
    return absorbed != null;
  }

  /** Returns whether the lock of the next page was taken. */
  boolean wasInTheWay() {
    return wasInTheWay;
  }

  /** Prepares the page with other models in place of some in a row, which may be none. */
  void prepare(ModelPage page, int from, int to, ModelArrays built) {
    int behind = page.models.count();
    int kept = kept(page, from, to, built.count());
    ModelArrays models = new ModelArrays(kept);
    models.addAll(page.models, 0, from);
    models.addAll(built, 0, built.count());
    models.addAll(page.models, to + 1, behind);
    if (absorbed != null) {
      models.addAll(absorbed.models, 0, absorbed.models.count());
    }
    divide(page, absorbed == null ? page : absorbed, models);
  }

  private static int kept(ModelPage page, int from, int to, int built) {
    return page.models.count() - (to - from + 1) + built;
  }

  /** Divides models among a page and as many new ones behind it as they take. */
  private void divide(ModelPage page, ModelPage end, ModelArrays models) {
    int count = models.count();
    int pageCount = count <= capacity ? 1 : (count * 4 + capacity * 3 - 1) / (capacity * 3);
    int perPage = (count + pageCount - 1) / pageCount;
    long next = end.next;
    long high = end.high;
    for (int start = (count - 1) / perPage * perPage; start >= 0; start -= perPage) {
      boolean isNew = start > 0;
      long address = isNew ? allocatePage() : page.address;
      long edition = isNew ? 0 : page.edition + 1;
      ModelArrays slice = models.slice(start, Math.min(start + perPage, count));
      ModelPage divided = new ModelPage(address, edition, high, next, slice);
      written.add(divided);
      if (isNew) {
        pages.write(divided);
      }
      next = address;
      high = models.lows[start] - 1;
    }
  }

  private long allocatePage() {
    long address =
        server.allocator.allocatePage(worker, context.message, server.nextMemoryServer());
    boolean locked = false;
    try {
      context.lockNew(address, () -> context.locks.tryLock(address, false));
      locked = true;
    } finally {
      if (!locked) {
        server.allocator.freePage(worker, context.message, address);
      }
    }
    return address;
  }

  /** Has the new models count from here on. May be done again. */
  void publish() {
    pages.write(written.getLast());
    if (absorbed != null) {
      pages.retire(absorbed.address);
    }
  }

  /** Takes the new models over into what this compute server knows. */
  void install() {
    server.models.install(written.reversed());
  }

  /** Returns the page that was absorbed, {@code null} if none was. */
  @Nullable ModelPage absorbed() {
    return absorbed;
  }

  /** Gives back, after the change, the page that was absorbed. */
  void free() {
    if (absorbed != null) {
      server.allocator.freePage(worker, context.message, absorbed.address);
    }
  }

  /** Retires the pages that were written aside. May be done again. */
  void retireNew() {
    for (ModelPage page : written) {
      if (page.edition == 0) {
        pages.retire(page.address);
      }
    }
  }

  /** Gives back the pages that were written aside. */
  void freeNew() {
    for (ModelPage page : written) {
      if (page.edition == 0) {
        server.allocator.freePage(worker, context.message, page.address);
      }
    }
  }
}
