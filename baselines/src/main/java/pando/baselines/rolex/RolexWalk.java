package pando.baselines.rolex;

import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PandoException;
import pando.fabric.memory.Words;
import pando.index.Tree;
import pando.index.pool.Catalogue;
import pando.index.pool.Findings;

/**
 * Walks all models in the pool and checks them: that pages, leaves and chains follow each other,
 * that each is whole and reached once, that every leaf is where its model predicts each of its
 * keys, that runs count their leaves right, and that no lock is held. No session may change the
 * index meanwhile.
 */
final class RolexWalk {
  private final RolexServer server;
  private final RolexContext context;
  private final MemorySegment memory;
  private final ModelView model;
  private final Findings findings;
  private final LeafCursor leaf = new LeafCursor();
  private final EntryBuffer collected = new EntryBuffer();

  private int empties;
  private int synonyms;

  /** Entries of the run, without those in synonym leaves. */
  private int held;

  private RolexWalk(RolexServer server, RolexContext context, boolean entries) {
    this.findings = new Findings(entries);
    this.server = server;
    this.context = context;
    this.memory = context.memory;
    this.model = new ModelView(server.options.epsilon(), server.options.delta());
  }

  /**
   * Walks the index of a pool.
   *
   * @param options that the index was made with
   * @param entries whether to keep the entries
   * @throws IllegalStateException if the pool holds no such index
   */
  static Tree of(Fabric fabric, RolexOptions options, boolean entries) {
    RolexServer server =
        new RolexServer(0, fabric, options.with("retraining", "off"), new SplittableRandom(0));
    try (RolexContext context = new RolexContext(server, fabric, 0)) {
      RolexWalk walk = new RolexWalk(server, context, entries);
      Catalogue catalogue =
          new Catalogue(context.worker, context.message, server.nodePlaces, server.system);
      catalogue.checkClaimed(options.nodeBytes(), options.system());
      walk.pages(catalogue);
      server.locks.forEachHeld(fabric, context.worker, context.message, walk.findings::problem);
      return walk.findings.tree();
    } finally {
      server.stop();
    }
  }

  private void pages(Catalogue catalogue) {
    try {
      long low = Long.MIN_VALUE;
      long address = Catalogue.rootAddress(catalogue.root());
      while (address != GlobalAddress.NULL) {
        @Nullable ModelPage page = findings.reach(address) ? context.pages.read(address) : null;
        if (page == null || page.low != low) {
          findings.problem(address, "is not the page of models from a key on: low=" + low);
          return;
        }
        findings.node(
            "pages of models",
            server.pages.pageBytes(),
            page.models.count(),
            server.pages.capacity());
        for (int i = 0; i < page.models.count(); i++) {
          page.copyTo(i, model);
          leaves();
        }
        address = page.next;
        low = page.high + 1;
      }
    } catch (PandoException e) {
      findings.problem("pages of models cannot be read: " + e.getMessage());
    }
  }

  private void leaves() {
    header();
    empties = 0;
    synonyms = 0;
    held = 0;
    long low = model.low;
    for (int i = 0; i < model.leaves(); i++) {
      long address = server.runs.leafAddress(model.place, i);
      leaf.set(0, context.leaves, address, model.stamp);
      context.worker.read(address, context.leaves, server.leaves.bytes());
      boolean whole = server.leaves.isWhole(memory, leaf.image, leaf.identity());
      if (!findings.reach(address)
          || !whole
          || RolexLeafLayout.low(memory, context.leaves) != low) {
        findings.problem(address, "is not the leaf of its model: low=" + low + ", whole=" + whole);
        return;
      }
      long high = RolexLeafLayout.high(memory, context.leaves);
      chain(address, i);
      if (i == model.leaves() - 1 ? high != model.high : high >= model.high) {
        findings.problem(
            address, "ends where its model does not: high=" + high + ", model=" + model.high);
        return;
      }
      low = high + 1;
    }
    int room = model.leaves() * server.leaves.delta();
    findings.node("runs of leaves", server.runs.bytes(model.leaves()), held, room);
    checkCounts();
  }

  private void header() {
    context.worker.read(model.run(), context.run, RunLayout.HEADER_BYTES);
    long gate = Words.get(memory, context.run + RunLayout.GATE);
    if (server.options.writesByCall() && gate != model.place) {
      findings.problem(
          model.run(),
          "does not let writes in: frozen=%s, gate=%s"
              .formatted(RunLayout.isFrozen(gate, model.place), Long.toHexString(gate)));
    }
  }

  private void checkCounts() {
    long counts = Words.get(memory, context.run + RunLayout.COUNTS);
    if (counts != RunLayout.counts(empties, synonyms)) {
      findings.problem(
          model.run(),
          "counts its leaves wrong: empty=%s, synonyms=%s, found empty=%s, found synonyms=%s"
              .formatted(RunLayout.empties(counts), RunLayout.synonyms(counts), empties, synonyms));
    }
  }

  private void chain(long address, int number) {
    collected.clear();
    if (!context.chains.collectAlone(leaf, collected)) {
      findings.problem(address, "has a chain that is damaged");
      return;
    }
    if (RolexLeafLayout.isEmpty(memory, context.leaves)) {
      empties++;
    }
    int counted = RolexLeafLayout.count(memory, context.leaves);
    held += counted;
    for (context.chains.start(); context.chains.hasLeaf(); context.chains.next()) {
      int count = RolexLeafLayout.count(memory, context.chains.leaf().image);
      counted += count;
      findings.node("synonym leaves", server.runs.synonymBytes(), count, server.leaves.delta());
      synonyms++;
      if (!findings.reach(context.chains.leaf().address)) {
        findings.problem(context.chains.leaf().address, "is reached twice");
      }
    }
    if (counted != collected.count()) {
      findings.problem(
          address, "has a key twice: entries=" + counted + ", keys=" + collected.count());
    }
    for (int i = 0; i < collected.count(); i++) {
      long key = collected.key(i);
      findings.entry(key, collected.value(i));
      if (!RolexLeafLayout.covers(memory, context.leaves, key)) {
        findings.problem(address, "has a key that it does not cover: key=" + key);
      }
      if (number < model.first(key) || number > model.last(key)) {
        findings.problem(
            address,
            "is not where the model predicts a key: key=%s, leaf=%s, first=%s, last=%s"
                .formatted(key, number, model.first(key), model.last(key)));
      }
    }
  }
}
