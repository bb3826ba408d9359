package pando.index.dex;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import pando.fabric.WaitLimit;
import pando.index.EntryVisitor;
import pando.index.Lease;
import pando.index.Partitioning;
import pando.index.dex.node.NodeLayout;
import pando.index.host.HostedSession;
import pando.index.session.KeyGroups;
import pando.index.session.Request;

/** One thread's session: sends each operation to the compute server that owns the key. */
final class DexSession extends HostedSession<PartitionWorker> {
  private final DexIndex index;
  private final NodeLayout layout;
  private final Request request = new Request();

  /** Whether the words of keys are given and taken, and not numbers. */
  private final boolean takesWords;

  /** The words of the key that is asked for, of the last one of a scan, and of the one found. */
  final long[] wanted;

  final long[] last;
  final long[] found;
  private final long[] next;

  /** A place for a key that becomes the one next to it. */
  private final MemorySegment stepped;

  /** The words of the keys of a leaf. */
  final long[] scanKeys;

  private final long[] scanValues;

  /**
   * Creates a session.
   *
   * @param takesWords whether the caller sets the words of keys, and passes on their first words;
   *     if not, the keys are numbers, which are repeated
   * @param lease while which it answers, {@code null} for always
   */
  DexSession(DexIndex index, NodeLayout layout, boolean takesWords, @Nullable Lease lease) {
    super(index, NO_HOME, lease);
    this.index = index;
    this.layout = layout;
    this.takesWords = takesWords;
    this.wanted = new long[layout.keyWords()];
    this.last = new long[layout.keyWords()];
    this.found = new long[layout.keyWords()];
    this.next = new long[layout.keyWords()];
    this.stepped = MemorySegment.ofArray(new long[layout.keyWords()]);
    this.scanKeys = new long[layout.capacity() * layout.keyWords()];
    this.scanValues = new long[layout.capacity()];
  }

  /** Checks that the session can be used, before the words of a key are set. */
  void check() {
    checkUsable();
  }

  private void setWords(long[] words, long number) {
    if (!takesWords) {
      Arrays.fill(words, number);
    }
  }

  /** Returns the number whose words a key has; where the caller takes words, their place. */
  private long number(long[] words, int at) {
    if (takesWords) {
      return at;
    }
    for (int i = 1; i < wanted.length; i++) {
      if (words[at + i] != words[at]) {
        throw new IllegalStateException(
            "the key is not that of a number: key="
                + text(Arrays.copyOfRange(words, at, at + wanted.length)));
      }
    }
    return words[at];
  }

  /** Returns a session's key as text, for a message. */
  String text(long[] words) {
    MemorySegment memory = MemorySegment.ofArray(new long[words.length]);
    return layout.text(memory, layout.ofWords(words, 0, memory, 0));
  }

  /** Makes the key next to the one that is asked for; returns whether there is one. */
  boolean step(boolean down) {
    long end = down ? Long.MIN_VALUE : Long.MAX_VALUE;
    long key = layout.ofWords(wanted, 0, stepped, 0);
    if (layout.first(stepped, key) == end && layout.endsWith(stepped, key, end)) {
      return false;
    }
    long beside = down ? layout.before(stepped, key, 0) : layout.after(stepped, key, 0);
    layout.toWords(stepped, beside, wanted, 0);
    return true;
  }

  @Override
  protected boolean operate(Request asked) {
    setWords(wanted, asked.key());
    PartitionWorker worker = begin(wanted[0]);
    try {
      boolean isThere = worker.operate(asked, wanted);
      setEntry(asked.key(), worker.value());
      return isThere;
    } finally {
      worker.end();
    }
  }

  @Override
  protected void operate(KeyGroups groups) {
    PartitionWorker worker = begin(groups.next());
    try {
      groups.take(worker.low(), worker.high());
      for (int i = 0; i < groups.size(); i++) {
        groups.request(i, request);
        setWords(wanted, request.key());
        boolean isThere = worker.operate(request, wanted);
        if (!groups.areStored()) {
          groups.set(i, isThere, worker.value());
        }
      }
    } finally {
      worker.end();
    }
  }

  /**
   * Searches one partition after the other. When a partition has the neighbour, the leaves of those
   * that had none are validated: if they are unchanged, the result is a snapshot.
   */
  @Override
  protected boolean neighbour(long number, boolean down) {
    setWords(wanted, number);
    long start = 0;
    for (int attempt = 0; ; attempt++) {
      Partitioning partitioning = index.partitioning();
      System.arraycopy(wanted, 0, next, 0, wanted.length);
      PartitionWorker worker;
      while (true) {
        worker = begin(next[0]);
        boolean isThere;
        long bound;
        try {
          isThere = worker.neighbour(next, down);
          bound = down ? worker.low() : worker.high();
          if (isThere) {
            worker.copyKey(found);
            setEntry(number(found, 0), worker.value());
          }
        } finally {
          worker.end();
        }
        boolean end = bound == (down ? Long.MIN_VALUE : Long.MAX_VALUE);
        if (isThere || end) {
          if (areTrailsCurrent(partitioning, wanted[0], next[0], down)) {
            return isThere;
          }
          break;
        }
        Arrays.fill(next, down ? Long.MAX_VALUE : Long.MIN_VALUE);
        next[0] = down ? bound - 1 : bound + 1;
      }
      String what = "leaves between a key and its neighbour kept changing: key";
      LongFunction<String> text = _ -> text(wanted);
      start = WaitLimit.SHORT.pause(worker.backoff(), attempt, start, what, number, text);
    }
  }

  private boolean areTrailsCurrent(Partitioning partitioning, long from, long to, boolean down) {
    if (index.partitioning() != partitioning) {
      return false;
    }
    int step = down ? -1 : 1;
    int end = partitioning.rangeOfKey(to);
    for (int range = partitioning.rangeOfKey(from); range != end; range += step) {
      PartitionWorker worker = opened(partitioning.ownerOfRange(range));
      if (worker == null || !worker.isTrailCurrent()) {
        return false;
      }
    }
    return true;
  }

  @Override
  protected long visit(long from, long to, boolean down, long limit, EntryVisitor visitor) {
    setWords(wanted, from);
    setWords(last, to);
    System.arraycopy(wanted, 0, next, 0, wanted.length);
    boolean isNumber = !takesWords && wanted.length == 1;
    long visited = 0;
    while (visited < limit) {
      int max = (int) Math.min(scanValues.length, limit - visited);
      PartitionWorker worker = begin(next[0]);
      int entries;
      boolean goesOn;
      try {
        entries = worker.copyLeaf(next, last, down, max, scanKeys, scanValues);
        goesOn = worker.goesOn(last, down, next);
      } finally {
        worker.end();
      }
      for (int i = 0; i < entries; i++) {
        int entry = down ? entries - 1 - i : i;
        visited++;
        long key = isNumber ? scanKeys[entry] : number(scanKeys, entry * wanted.length);
        if (!visitor.visit(key, scanValues[entry])) {
          return visited;
        }
      }
      if (!goesOn) {
        return visited;
      }
    }
    return visited;
  }

  /**
   * Begins an operation at the compute server that owns a key.
   *
   * @param first word of the key
   */
  private PartitionWorker begin(long first) {
    PartitionWorker worker = enter(first);
    worker.begin();
    return worker;
  }
}
