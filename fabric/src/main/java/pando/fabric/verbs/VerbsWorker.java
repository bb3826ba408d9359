package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.VerbList;
import pando.fabric.VerbList.Kind;
import pando.fabric.VerbList.Outcome;
import pando.fabric.base.ListWorker;
import pando.fabric.base.MaskedWords;
import pando.fabric.lane.LaneLoop;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Utf8;
import pando.fabric.server.CallFailedException;
import pando.fabric.verbs.Abi.IbvMr;

/**
 * Issues verbs by a card: a list goes as one chain to each memory server, of which the last verb
 * alone completes. A CALL goes as a message. While it is served, empty WRITEs find out whether the
 * memory server is still there, as nothing else would say that it is not.
 *
 * <p>A masked atomic is emulated by CAS with a guess, which is repeated with what was found until
 * it took place or the compared bits differ. So nothing behind it is sent to the same memory server
 * before it is done.
 */
final class VerbsWorker extends ListWorker {
  /**
   * How often READs that are not answered are sent. What was not sent at all is tried as often as
   * queue pairs are made anew, see {@link Renewals}.
   */
  private static final int ATTEMPTS_MAX = 3;

  /** Longest wait for the end of a CALL. */
  private static final long CALL_NANOS_MAX = TimeUnit.SECONDS.toNanos(60);

  private final VerbsFabric owner;
  private final Links links;
  private final Region local;
  private final MemorySegment found;
  private final Region foundRegion;
  private final long verbNanos;

  /** Ways for CALLs, once there was one; of a worker of no lane, the same as those for verbs. */
  private @Nullable OwnLinks calls;

  /** A chain for each memory server that was used. */
  private final @Nullable Chain[] chains;

  /** Chains under way. */
  private final Chain[] used;

  private int usedCount;

  /** For each memory server, the ways by which something has failed that may take effect late. */
  private final @Nullable Links[] unsettled;

  /** For each verb of a piece of a list, its place in the chain. */
  private int[] places = new int[Chain.MAX];

  /** Held during a list, so that what it uses is not given back meanwhile. */
  private final ReentrantLock using = new ReentrantLock();

  /** Gives back what this has, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  private boolean released;

  /**
   * Creates a worker.
   *
   * @param lane that it belongs to, or {@code null}
   * @param dramBytes bytes of DRAM of each memory server
   * @param verbNanos longest wait for verbs
   */
  VerbsWorker(
      VerbsFabric owner,
      Device device,
      @Nullable LaneLoop lane,
      long[] dramBytes,
      long verbNanos,
      MemorySegment memory,
      RandomGenerator random) {
    super(dramBytes, memory, random, LaneLoop.backoff(lane));
    this.owner = owner;
    this.verbNanos = verbNanos;
    this.chains = new Chain[dramBytes.length];
    this.used = new Chain[dramBytes.length];
    this.unsettled = new Links[dramBytes.length];
    try {
      local = device.register(memory, IbvMr.LOCAL_WRITE);
      ends.addFirst(local::close);
      NativeMemory room = NativeMemory.allocate((long) dramBytes.length * Chain.FOUND_BYTES);
      ends.addFirst(room::close);
      found = room.segment();
      foundRegion = device.register(found, IbvMr.LOCAL_WRITE);
      ends.addFirst(foundRegion::close);
      links = open(lane);
    } catch (RuntimeException | Error e) {
      giveBack();
      throw e;
    }
  }

  private Links open(@Nullable LaneLoop lane) {
    if (lane != null) {
      LaneLinks shared = new LaneLinks(lane);
      ends.addFirst(shared::close);
      return shared;
    }
    OwnLinks own = owner.takeLinks();
    calls = own;
    return own;
  }

  @Override
  protected void run(VerbList list) {
    using.lock();
    try {
      checkOpen();
      checkKinds(list);
      runPieces(list);
    } finally {
      using.unlock();
    }
  }

  private static void checkKinds(VerbList list) {
    for (int i = 0; i < list.size(); i++) {
      if (list.kind(i) == Kind.MASKED_CAS_16) {
        throw new UnsupportedOperationException(
            "cards have no CAS of 16 bytes, look at Capabilities.cas16 first: verb="
                + list.kind(i));
      }
    }
  }

  private void runPieces(VerbList list) {
    boolean repeatable = list.isReadsAlone();
    int start = 0;
    while (start < list.size()) {
      int end;
      try {
        end = runPiece(list, start, repeatable);
      } catch (StalledException | FencedException e) {
        // What went in earlier chains has taken effect.
        throw start == 0 || repeatable ? e : someSent(e);
      }
      counters().roundTrips += start == 0 ? 0 : 1;
      start = end;
    }
  }

  private static UnknownOutcomeException someSent(RuntimeException because) {
    return new UnknownOutcomeException("some of the verbs were sent", because);
  }

  /** Runs as many verbs as one chain to each memory server holds; returns the end of them. */
  private int runPiece(VerbList list, int start, boolean repeatable) {
    int unanswered = 0;
    while (true) {
      int end = gather(list, start);
      try {
        exchange(links, verbNanos);
      } finally {
        for (int i = start; i < end; i++) {
          list.setOutcome(i, take(list, i, places[i - start]));
        }
      }
      Chain failed = firstFailed();
      if (failed == null) {
        for (int i = start; i < end; i++) {
          finish(list, i, places[i - start]);
        }
        return end;
      }
      RuntimeException failure = failure(failed);
      boolean undone = isUndone();
      boolean again = undone || (repeatable && (failed.isUndone() || isUnknown(failure)));
      if (!again || owner.isClosed()) {
        boolean someDone = !repeatable && (usedCount > 1 || failed.failedAt() > 0);
        throw someDone && saysNotDone(failure) ? someSent(failure) : failure;
      }
      unanswered += undone ? 0 : 1;
      if (unanswered == ATTEMPTS_MAX) {
        throw new StalledException("verbs are not answered: " + failure.getMessage());
      }
    }
  }

  private static boolean isUnknown(RuntimeException failure) {
    return failure instanceof UnknownOutcomeException;
  }

  /** Returns whether a failure says that nothing was done. */
  private static boolean saysNotDone(RuntimeException failure) {
    return failure instanceof FencedException || failure instanceof StalledException;
  }

  /** Adds verbs to chains, until one does not fit; returns its number. */
  private int gather(VerbList list, int start) {
    usedCount = 0;
    int end = start;
    while (end < list.size() && add(list, end, end - start)) {
      end++;
    }
    return end;
  }

  private boolean add(VerbList list, int index, int place) {
    int server = GlobalAddress.server(list.remote(index));
    Chain chain = chain(server);
    if (!isUsed(chain)) {
      begin(chain, links, server);
      used[usedCount++] = chain;
    }
    if (!chain.hasRoom()) {
      return false;
    }
    if (place == places.length) {
      places = Arrays.copyOf(places, 2 * place);
    }
    places[place] = chain.size();
    add(list, index, chain);
    return true;
  }

  private void add(VerbList list, int index, Chain chain) {
    long remote = list.remote(index);
    switch (list.kind(index)) {
      case READ -> chain.read(remote, list.local(index), list.length(index));
      case WRITE -> chain.write(remote, list.local(index), list.length(index));
      case CAS -> chain.cas(remote, list.operand(index, 0), list.operand(index, 1));
      case FAA -> chain.faa(remote, list.operand(index, 0));
      case MASKED_CAS, MASKED_FAA -> {
        long guess = firstGuess(list, index);
        chain.emulated(remote, guess, desired(list, index, guess));
      }
      case MASKED_CAS_16 -> throw new AssertionError(list.kind(index));
    }
  }

  /** Returns the word that is most likely there: all bits that are not compared are 0. */
  private static long firstGuess(VerbList list, int index) {
    return list.kind(index) == Kind.MASKED_CAS
        ? list.operand(index, 0) & list.operand(index, 1)
        : 0;
  }

  /** Returns what a masked atomic makes of a word. */
  private static long desired(VerbList list, int index, long word) {
    return list.kind(index) == Kind.MASKED_CAS
        ? MaskedWords.swapped(word, list.operand(index, 2), list.operand(index, 3))
        : MaskedWords.sum(word, list.operand(index, 0), list.operand(index, 1));
  }

  /** Returns whether a masked atomic stores where it finds a word. */
  private static boolean stores(VerbList list, int index, long word) {
    return list.kind(index) == Kind.MASKED_FAA
        || MaskedWords.matches(word, list.operand(index, 0), list.operand(index, 1));
  }

  /**
   * Begins a chain. What went by the other way to the same memory server, and was not answered,
   * takes no effect any more: that way is made anew before.
   */
  private void begin(Chain chain, Links by, int server) {
    Links other = unsettled[server];
    if (other != null) {
      other.to(server).open();
      unsettled[server] = null;
    }
    chain.begin(by.to(server).open());
  }

  private void exchange(Links by, long nanosMax) {
    boolean ended = false;
    try {
      by.exchange(used, usedCount, nanosMax, backoff());
      ended = true;
    } finally {
      for (int i = 0; i < usedCount; i++) {
        if (!ended || used[i].failure() != null) {
          unsettled[used[i].connection().server()] = by;
        }
      }
    }
  }

  private boolean isUsed(Chain chain) {
    for (int i = 0; i < usedCount; i++) {
      if (used[i].equals(chain)) {
        return true;
      }
    }
    return false;
  }

  /** Takes the result of a verb that was done; returns what became of it. */
  private Outcome take(VerbList list, int index, int place) {
    Chain chain = chain(GlobalAddress.server(list.remote(index)));
    if (chain.failure() != null && place >= chain.failedAt()) {
      return outcome(chain);
    }
    Kind kind = list.kind(index);
    if (!kind.isAtomic()) {
      return Outcome.DONE;
    }
    long word = chain.found(place);
    if (isEmulated(kind) && word != firstGuess(list, index) && stores(list, index, word)) {
      return Outcome.NOT_DONE;
    }
    setFound(list.local(index), word);
    return Outcome.DONE;
  }

  /** Returns what became of the verb of a chain that failed, and of those behind it. */
  private static Outcome outcome(Chain failed) {
    boolean isNotDone = failed.isUndone() || Objects.requireNonNull(failed.failure()).isDoneNever();
    return isNotDone ? Outcome.NOT_DONE : Outcome.UNKNOWN;
  }

  private static boolean isEmulated(Kind kind) {
    return kind == Kind.MASKED_CAS || kind == Kind.MASKED_FAA;
  }

  /** Repeats the CAS of a masked atomic until it is done. */
  private void finish(VerbList list, int index, int place) {
    if (!isEmulated(list.kind(index))) {
      return;
    }
    Chain chain = chain(GlobalAddress.server(list.remote(index)));
    long guess = firstGuess(list, index);
    long word = chain.found(place);
    while (word != guess && stores(list, index, word)) {
      guess = word;
      word = cas(chain, list, index, guess);
    }
    setFound(list.local(index), word);
    list.setOutcome(index, Outcome.DONE);
  }

  private long cas(Chain chain, VerbList list, int index, long guess) {
    while (true) {
      usedCount = 1;
      used[0] = chain;
      beginBehindOthers(chain, list, index);
      chain.cas(list.remote(index), guess, desired(list, index, guess));
      try {
        exchange(links, verbNanos);
      } finally {
        list.setOutcome(index, chain.failure() == null ? Outcome.NOT_DONE : outcome(chain));
      }
      counters().atomics++;
      counters().roundTrips++;
      if (chain.failure() == null) {
        return chain.found(0);
      }
      RuntimeException failure = failure(chain);
      if (!chain.isUndone() || owner.isClosed()) {
        boolean someDone = list.size() > 1;
        throw someDone && saysNotDone(failure) ? someSent(failure) : failure;
      }
    }
  }

  private void beginBehindOthers(Chain chain, VerbList list, int index) {
    try {
      begin(chain, links, GlobalAddress.server(list.remote(index)));
    } catch (StalledException | FencedException e) {
      throw list.size() > 1 ? someSent(e) : e;
    }
  }

  /** Returns the first chain that failed, one that others have not kept from being sent if any. */
  private @Nullable Chain firstFailed() {
    Chain first = null;
    for (int i = 0; i < usedCount; i++) {
      boolean isBetter = first == null || (first.isUndone() && !used[i].isUndone());
      if (used[i].failure() != null && isBetter) {
        first = used[i];
      }
    }
    return first;
  }

  /** Returns whether no chain has done anything. */
  private boolean isUndone() {
    for (int i = 0; i < usedCount; i++) {
      if (!used[i].isUndone()) {
        return false;
      }
    }
    return true;
  }

  /** Returns what a failed chain means. */
  private RuntimeException failure(Chain failed) {
    if (owner.isClosed()) {
      return closedFabric();
    }
    Status status = Objects.requireNonNull(failed.failure());
    String text =
        "verb "
            + failed.failedAt()
            + " failed: status="
            + status
            + ", server="
            + failed.connection().server()
            + ", card="
            + owner.card();
    if (failed.isUndone()) {
      return new StalledException("the connection broke before the verbs were sent: " + text);
    }
    if (status.isLocal()) {
      return new IllegalStateException(text);
    }
    if (status == Status.RECEIVER_NOT_READY) {
      return new StalledException("no processor takes the CALL: " + text);
    }
    return status.isRefused() ? refused(failed, text) : new UnknownOutcomeException(text);
  }

  private RuntimeException refused(Chain failed, String text) {
    MemoryServerLostException lost =
        new MemoryServerLostException("the memory server refuses a verb that is in order: " + text);
    try {
      links.to(failed.connection().server()).open();
    } catch (FencedException | MemoryServerLostException e) {
      return e;
    } catch (PandoException e) {
      lost.addSuppressed(e);
    }
    return lost;
  }

  private static IllegalStateException closedFabric() {
    return new IllegalStateException("fabric is closed: name=" + VerbsFabric.NAME);
  }

  private Chain chain(int server) {
    Chain chain = chains[server];
    if (chain == null) {
      MemorySegment room = found.asSlice((long) server * Chain.FOUND_BYTES, Chain.FOUND_BYTES);
      chain = new Chain(local, room, foundRegion.localKey());
      chains[server] = chain;
    }
    return chain;
  }

  @Override
  public int call(int server, int function, long local, int requestBytes) {
    using.lock();
    try {
      checkOpen();
      checkCall(server, chains.length, function, local, requestBytes);
      int responseBytes = answer(server, function, local, requestBytes);
      counters().countCall(requestBytes, responseBytes);
      return responseBytes;
    } finally {
      using.unlock();
    }
  }

  private int answer(int server, int function, long offset, int requestBytes) {
    Chain chain = chain(server);
    begin(chain, callLinks(), server);
    chain.call(function, offset, requestBytes);
    used[0] = chain;
    usedCount = 1;
    exchange(callLinks(), CALL_NANOS_MAX);
    if (chain.failure() != null) {
      throw failure(chain);
    }
    int bytes = chain.answerBytes();
    if (!chain.isServed()) {
      throw new CallFailedException(Utf8.read(memory(), offset, bytes));
    }
    return bytes;
  }

  private OwnLinks callLinks() {
    OwnLinks own = calls;
    if (own == null) {
      own = owner.takeLinks();
      calls = own;
    }
    return own;
  }

  @Override
  protected void checkOpen() {
    super.checkOpen();
    if (released || owner.isClosed()) {
      throw closedFabric();
    }
  }

  /** Gives everything back, once a list that is under way has ended. */
  void release() {
    using.lock();
    try {
      if (!released) {
        released = true;
        giveBack();
      }
    } finally {
      using.unlock();
    }
  }

  /** In this order, and none if one before it failed: what the card still uses is not freed. */
  private void giveBack() {
    if (calls != null) {
      owner.keepLinks(calls);
    }
    ends.forEach(Runnable::run);
    for (Chain chain : chains) {
      if (chain != null) {
        chain.close();
      }
    }
  }

  @Override
  public void close() {
    super.close();
    release();
    owner.forget(this);
  }
}
