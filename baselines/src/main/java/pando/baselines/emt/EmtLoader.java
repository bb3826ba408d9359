package pando.baselines.emt;

import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbCounters;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.Partitioning;
import pando.index.load.FenceSample;
import pando.index.load.Loader;
import pando.index.pool.Catalogue;
import pando.index.pool.Workers;

/**
 * Builds a tree in each memory server, out of entries in ascending order. All trees get the same
 * number of entries, so it holds all entries until it knows how many there are. If there are fewer
 * than two for each tree, the trees' ranges have equal widths instead.
 */
final class EmtLoader implements Loader {
  /** Most leaves whose entries one CALL loads. */
  private static final int LEAVES_TO_A_CALL = 80;

  private final EmtServer server;
  private final RegisteredMemory registered;
  private final Worker worker;
  private final TreeCalls calls;
  private final TreeNodes nodes;
  private final Runnable loaded = this::setLoaded;
  private final long message;

  /** Most entries of a leaf. */
  private final int room;

  private final EntryBlocks entries = new EntryBlocks();
  private final FenceSample fences = new FenceSample();

  /** The address of the header of each tree. */
  private final long[] headers;

  /** The address of the root of each tree. */
  private final long[] roots;

  /** How many trees have a header and a root. */
  private int begun;

  /** How many of these trees were written. */
  private int written;

  /** The first entry that is not loaded yet. */
  private long next;

  /** How many entries the next CALL loads. */
  private int more;

  EmtLoader(EmtServer server, Fabric fabric, double fill) {
    this.server = server;
    this.message = server.options.nodeBytes();
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.calls = new TreeCalls(server, worker, message, EmtServer.NO_SESSION);
    this.nodes = new TreeNodes(server, calls);
    int capacity = new EmtNode(server.options.nodeBytes()).capacity();
    this.room = Math.clamp(Math.round(fill * capacity), 2, capacity);
    this.headers = new long[server.memoryServers];
    this.roots = new long[server.memoryServers];
  }

  @Override
  public int perLeaf() {
    return room;
  }

  /** {@inheritDoc} Does nothing: the memory servers decide where leaves begin. */
  @Override
  public void startLeaf(long low) {}

  @Override
  public void add(long key, long value) {
    if (entries.count() % room == 0) {
      fences.add(entries.count() == 0 ? Long.MIN_VALUE : key);
    }
    entries.add(key, value);
  }

  @Override
  public long fence(int part, int parts) {
    return fences.at(part, parts);
  }

  @Override
  public long finish() {
    int trees = server.memoryServers;
    long[] lows = lows(trees);
    while (begun < trees) {
      begin(begun);
    }
    long from = 0;
    for (int tree = 0; tree < trees; tree++) {
      long high = tree + 1 < trees ? lows[tree + 1] - 1 : Long.MAX_VALUE;
      long behind = tree + 1 < trees ? headers[tree + 1] : GlobalAddress.NULL;
      write(tree, lows[tree], high, behind);
      from = load(tree, from, high);
    }
    return headers[0] | Catalogue.ROOT_LEVEL_MIN;
  }

  /** Returns the least key of each tree. */
  private long[] lows(int trees) {
    if (entries.count() < 2L * trees) {
      return Partitioning.equalWidth(trees).lows();
    }
    long[] lows = new long[trees];
    lows[0] = Long.MIN_VALUE;
    for (int tree = 1; tree < trees; tree++) {
      lows[tree] = entries.key(tree * entries.count() / trees);
    }
    return lows;
  }

  /** Allocates the header and the root of a tree. */
  private void begin(int tree) {
    long header = nodes.allocate(tree);
    try {
      roots[tree] = nodes.allocate(tree);
    } catch (Throwable e) {
      Closing.after(e, () -> free(header));
      throw e;
    }
    headers[tree] = header;
    begun = tree + 1;
  }

  private void free(long node) {
    server.allocator.free(worker, message, node);
  }

  /** Writes a tree without entries. */
  private void write(int tree, long low, long high, long behind) {
    int bytes = server.options.nodeBytes();
    registered.segment().asSlice(0, bytes).fill((byte) 0);
    EmtNode.format(registered.segment(), 0, roots[tree], 0, low, high);
    worker.write(roots[tree], 0, bytes);
    registered.segment().asSlice(0, bytes).fill((byte) 0);
    EmtHeader.format(registered.segment(), 0, headers[tree], bytes, low, high, behind, roots[tree]);
    worker.write(headers[tree], 0, bytes);
    written = tree + 1;
  }

  /** Loads entries up to a key into a tree; returns the first entry behind it. */
  private long load(int tree, long from, long high) {
    next = from;
    int most = Math.min(EmtMessage.LOADED_MAX, room * LEAVES_TO_A_CALL);
    while (next < entries.count() && entries.key(next) <= high) {
      more = 0;
      while (more < most && next + more < entries.count() && entries.key(next + more) <= high) {
        more++;
      }
      loadSome(headers[tree]);
      next += more;
    }
    nodes.takeAll(headers[tree]);
    return next;
  }

  private void loadSome(long tree) {
    int bytes = EmtMessage.LOADED + more * EmtMessage.ENTRY_BYTES;
    while (calls.send(tree, EmtMessage.LOAD, bytes, loaded) == EmtMessage.NEEDS_NODES) {
      nodes.give(tree, calls.get(EmtMessage.DETAIL));
    }
  }

  private void setLoaded() {
    calls.set(EmtMessage.ROOM, room);
    for (int i = 0; i < more; i++) {
      int at = EmtMessage.LOADED + i * EmtMessage.ENTRY_BYTES;
      calls.set(at, entries.key(next + i));
      calls.set(at + Long.BYTES, entries.value(next + i));
    }
  }

  @Override
  public void abandon(Throwable failure) {
    while (begun > 0) {
      long header = headers[--begun];
      long root = roots[begun];
      Runnable rest = begun < written ? () -> nodes.drop(header) : () -> free(root);
      Closing.after(failure, rest, () -> free(header));
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
