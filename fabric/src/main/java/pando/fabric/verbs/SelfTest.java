package pando.fabric.verbs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntConsumer;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.Cards.Finding;

/** Two queue pairs of one card, connected to each other, and what they are seen to do. */
final class SelfTest implements AutoCloseable {
  private static final int REMOTE = 8192;
  private static final int BYTES = 1024;
  private static final int TIMED = 2_000;

  private final Loopback loopback;
  private final NativeMemory memory = NativeMemory.allocate(2 * REMOTE);
  private final Region region;
  private final WorkRequests requests = new WorkRequests(Loopback.DEPTH);
  private final List<Finding> findings = new ArrayList<>();

  /** Gives everything back, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  private SelfTest(Device device) {
    ends.add(memory::close);
    ends.add(requests::close);
    try {
      loopback = new Loopback(device);
      ends.addFirst(loopback::close);
      region = device.register(memory.segment(), IbvMr.ALL_ACCESS);
      ends.addFirst(region::close);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  static List<Finding> run(Device device) {
    try (SelfTest test = new SelfTest(device)) {
      test.tryTransfers();
      test.tryAtomics();
      test.tryList();
      test.time("READ of 1 KB", test::addRead);
      test.time("CAS", i -> test.addCas(0, -1, -1));
      test.tryWrongKey();
      return List.copyOf(test.findings);
    }
  }

  private void tryTransfers() {
    word(REMOTE, 42);
    addRead(0);
    Status read = exchange();
    add("READ", read == Status.SUCCESS && word(0) == 42, "status=" + read + ", word=" + word(0));
    word(0, 43);
    addWrite(IbvSendWr.INLINE, REMOTE);
    Status inline = exchange();
    add(
        "WRITE, inline",
        inline == Status.SUCCESS && word(REMOTE) == 43,
        "status="
            + inline
            + ", word="
            + word(REMOTE)
            + ", bytes at most="
            + loopback.client().inlineBytes());
  }

  private void tryAtomics() {
    word(REMOTE, 7);
    addCas(8, 7, 9);
    addCas(16, 7, 10);
    requests.faa(0, at(24), region.localKey(), at(REMOTE), region.remoteKey(), 5);
    Status status = exchange();
    String found = word(8) + ", " + word(16) + ", " + word(24) + ", then " + word(REMOTE);
    add(
        "CAS and FAA",
        status == Status.SUCCESS
            && word(8) == 7
            && word(16) == 9
            && word(24) == 9
            && word(REMOTE) == 14,
        "status=" + status + ", found=" + found);
  }

  private void tryList() {
    word(0, 44);
    addWrite(0, REMOTE);
    addWrite(0, REMOTE + 8);
    addCas(8, 44, 45);
    Status status = exchange();
    int count = loopback.completed();
    add(
        "list {WRITE, WRITE, CAS}, one completion",
        status == Status.SUCCESS
            && count == 1
            && word(8) == 44
            && word(REMOTE) == 45
            && word(REMOTE + 8) == 44,
        "completions=" + count + ", found=" + word(8));
  }

  private void tryWrongKey() {
    requests.transfer(
        IbvSendWr.READ, 0, at(0), region.localKey(), 8, at(REMOTE), region.remoteKey() + 1);
    Status status = exchange();
    add("READ by a wrong key is refused", status.isRefused(), "status=" + status);
  }

  private void time(String what, IntConsumer verb) {
    long[] nanos = new long[TIMED];
    for (int i = 0; i < TIMED; i++) {
      long start = System.nanoTime();
      verb.accept(0);
      Status status = exchange();
      nanos[i] = System.nanoTime() - start;
      if (status != Status.SUCCESS) {
        add(what + ", timed", false, "status=" + status);
        return;
      }
    }
    Arrays.sort(nanos);
    add(
        what + ", timed",
        true,
        String.format(
            Locale.ROOT,
            "median %.1f us, 99 %% within %.1f us",
            nanos[TIMED / 2] / 1e3,
            nanos[TIMED * 99 / 100] / 1e3));
  }

  private void addRead(int offset) {
    requests.transfer(
        IbvSendWr.READ,
        0,
        at(offset),
        region.localKey(),
        BYTES,
        at(REMOTE + offset),
        region.remoteKey());
  }

  private void addWrite(int flags, int remote) {
    requests.transfer(
        IbvSendWr.WRITE, flags, at(0), region.localKey(), 8, at(remote), region.remoteKey());
  }

  private void addCas(int offset, long expected, long desired) {
    requests.cas(
        0, at(offset), region.localKey(), at(REMOTE), region.remoteKey(), expected, desired);
  }

  /** Runs the verbs that were added; returns what the first completion says. */
  private Status exchange() {
    Status status = loopback.run(requests);
    requests.clear();
    return status;
  }

  private void add(String what, boolean works, String found) {
    findings.add(new Finding(what, works, found));
  }

  private void word(int offset, long value) {
    Words.set(memory.segment(), offset, value);
  }

  private long word(int offset) {
    return Words.get(memory.segment(), offset);
  }

  private long at(int offset) {
    return memory.segment().address() + offset;
  }

  @Override
  public void close() {
    Closing.all(ends);
  }
}
