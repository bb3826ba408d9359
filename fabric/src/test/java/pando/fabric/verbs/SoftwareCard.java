package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.Abi.IbvSge;

/**
 * A card in software: takes the bytes of requests as a card does, and does what they say, or, by a
 * fault that is planted, something like it. It has its own reading of the requests, by number.
 */
final class SoftwareCard implements WorkRequests.Poster, CardTrial.Way {
  static final int LOCAL_KEY = 0x1112_1314;
  static final int REMOTE_KEY = 0x2122_2324;
  static final int QUEUE_PAIR = 0xabcdef;

  private static final ValueLayout.OfLong BIG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfInt BIG_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
  private static final ValueLayout.OfLong LITTLE =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What it does otherwise than it should. */
  enum Fault {
    NONE,
    /** Compare and swap are taken for each other. */
    SWAPPED_FIELDS,
    /** The same of their masks. */
    SWAPPED_MASKS,
    /** The compare mask is taken for all bits. */
    COMPARE_MASK_IGNORED,
    /** The swap mask is taken for all bits. */
    SWAP_MASK_IGNORED,
    /** It is no CAS: it stores whatever it finds. */
    NOTHING_COMPARED,
    /** It stores nothing. */
    NOTHING_STORED,
    /** Results are big-endian. */
    BIG_ENDIAN_RESULT,
    /** Operands are taken for little-endian. */
    LITTLE_ENDIAN_OPERANDS,
    /** The result is what is there after the verb. */
    RESULT_AFTER,
    /** Masked CAS is refused. */
    CAS_REFUSED,
    /** Masked FAA is refused. */
    FAA_REFUSED,
    /** Masked FAA carries from one field into the next. */
    BOUNDARIES_IGNORED,
    /** Masked FAA takes the boundaries for what to add. */
    BOUNDARIES_ADDED,
    /** 16-byte CAS is refused. */
    REFUSED_16,
    /** Its two words are taken for each other. */
    SWAPPED_WORDS_16,
    /** The first word alone is compared. */
    HALF_COMPARED_16,
    /** It has 8 bytes. */
    HALF_16,
    /** The word behind is changed as well. */
    NEIGHBOUR_CHANGED,
    /** A row of raw requests is done before the chain in front of it. */
    RAW_FIRST,
    /** Raw requests make no completion. */
    NO_RAW_COMPLETION,
    /** Nothing works. */
    BROKEN
  }

  private final Fault fault;
  private final List<String> done = new ArrayList<>();
  private final List<Runnable> late = new ArrayList<>();
  private final List<Long> completions = new ArrayList<>();
  private Status status = Status.SUCCESS;
  private long nextNumber = 1000;

  SoftwareCard(Fault fault) {
    this.fault = fault;
  }

  /** Returns the verbs that were done, by their names, in order. */
  List<String> done() {
    return done;
  }

  /** Returns the numbers of verbs that have made a completion. */
  List<Long> completions() {
    return completions;
  }

  @Override
  public Status run(WorkRequests requests) {
    status = Status.SUCCESS;
    int before = completions.size();
    requests.finish(nextNumber);
    nextNumber += requests.size();
    requests.post(this);
    late.forEach(Runnable::run);
    late.clear();
    return completions.size() == before ? Status.RESPONSE_TIMEOUT : status;
  }

  @Override
  public void postChain(WorkRequests requests, long chain) {
    for (long next = chain; next != 0; ) {
      MemorySegment request = NativeMemory.at(next, IbvSendWr.BYTES);
      if (fault == Fault.RAW_FIRST) {
        late.add(() -> run(request));
      } else {
        run(request);
      }
      next = request.get(ValueLayout.JAVA_LONG, IbvSendWr.NEXT);
    }
  }

  private void run(MemorySegment request) {
    int flags = request.get(ValueLayout.JAVA_INT, IbvSendWr.SEND_FLAGS);
    int operation = request.get(ValueLayout.JAVA_INT, IbvSendWr.OPCODE);
    complete((flags & IbvSendWr.SIGNALED) != 0, request.get(ValueLayout.JAVA_LONG, 0));
    MemorySegment element =
        NativeMemory.at(request.get(ValueLayout.JAVA_LONG, IbvSendWr.SG_LIST), IbvSge.BYTES);
    int bytes = element.get(ValueLayout.JAVA_INT, IbvSge.LENGTH);
    assertThat(element.get(ValueLayout.JAVA_INT, IbvSge.LKEY)).isEqualTo(LOCAL_KEY);
    long local = element.get(ValueLayout.JAVA_LONG, IbvSge.ADDR);
    long remote = request.get(ValueLayout.JAVA_LONG, IbvSendWr.RDMA_REMOTE_ADDR);
    if (status != Status.SUCCESS || fault == Fault.BROKEN) {
      fail(Status.REMOTE_ACCESS);
      return;
    }
    done.add(
        switch (operation) {
          case IbvSendWr.READ -> "READ";
          case IbvSendWr.WRITE -> "WRITE";
          case IbvSendWr.COMPARE_AND_SWAP -> "CAS";
          default -> "FAA";
        });
    switch (operation) {
      case IbvSendWr.READ -> at(local, bytes).copyFrom(at(remote, bytes));
      case IbvSendWr.WRITE -> at(remote, bytes).copyFrom(at(local, bytes));
      default -> atomic(request, operation, local, remote);
    }
  }

  private static void atomic(MemorySegment request, int operation, long local, long remote) {
    long first = request.get(ValueLayout.JAVA_LONG, IbvSendWr.ATOMIC_COMPARE_ADD);
    long found = at(remote, 8).get(LITTLE, 0);
    at(local, 8).set(LITTLE, 0, found);
    if (operation == IbvSendWr.FETCH_AND_ADD) {
      at(remote, 8).set(LITTLE, 0, found + first);
    } else if (found == first) {
      at(remote, 8).set(LITTLE, 0, request.get(ValueLayout.JAVA_LONG, IbvSendWr.ATOMIC_SWAP));
    }
  }

  @Override
  public void postRaw(WorkRequests requests, int start, int end) {
    for (int i = start; i < end; i++) {
      requests.setQueuePair(i, QUEUE_PAIR);
      runRaw(requests.number(i), NativeMemory.at(requests.rawAddress(i), 128));
    }
  }

  private void runRaw(long number, MemorySegment request) {
    boolean signalled = (request.get(ValueLayout.JAVA_BYTE, 11) & 8) != 0;
    complete(signalled && fault != Fault.NO_RAW_COMPLETION, number);
    int units = request.get(ValueLayout.JAVA_BYTE, 7);
    int opcode = request.get(ValueLayout.JAVA_BYTE, 3);
    int bytes = 4 << (request.get(ValueLayout.JAVA_BYTE, 0) & 7);
    long remote = request.get(BIG, 16);
    int local = units * 16 - 16;
    boolean cas = opcode == 0x14;
    assertThat(request.get(BIG_INT, 4) >>> 8).isEqualTo(QUEUE_PAIR);
    assertThat(request.get(ValueLayout.JAVA_BYTE, 0) & 8).isEqualTo(8);
    assertThat(opcode).isIn(0x14, 0x15);
    assertThat(units).isEqualTo(cas ? 3 + bytes / 4 : 4);
    assertThat(request.get(BIG_INT, 24)).isEqualTo(REMOTE_KEY);
    assertThat(request.get(BIG_INT, local)).isEqualTo(bytes);
    assertThat(request.get(BIG_INT, local + 4)).isEqualTo(LOCAL_KEY);
    if (status != Status.SUCCESS || isRefused(cas, bytes)) {
      fail(Status.REMOTE_INVALID_REQUEST);
      return;
    }
    done.add(cas ? "MASKED_CAS_" + bytes : "MASKED_FAA");
    long[] found = words(remote, bytes);
    long[] after = cas ? swapped(request, found) : sum(request, found[0]);
    if (fault != Fault.NOTHING_STORED) {
      store(remote, after);
    }
    if (fault == Fault.NEIGHBOUR_CHANGED) {
      at(remote + bytes, 1).set(ValueLayout.JAVA_BYTE, 0, (byte) 0x5a);
    }
    answer(request.get(BIG, local + 8), fault == Fault.RESULT_AFTER ? after : found);
  }

  private boolean isRefused(boolean cas, int bytes) {
    return switch (fault) {
      case BROKEN -> true;
      case CAS_REFUSED -> cas && bytes == 8;
      case FAA_REFUSED -> !cas;
      case REFUSED_16 -> bytes == 16;
      default -> false;
    };
  }

  private long[] swapped(MemorySegment request, long[] found) {
    int words = found.length;
    long[] after = new long[words];
    boolean matches = true;
    for (int i = 0; i < words; i++) {
      int word = fault == Fault.SWAPPED_WORDS_16 ? words - 1 - i : i;
      boolean half = i > 0 && fault == Fault.HALF_16;
      boolean fields = fault == Fault.SWAPPED_FIELDS;
      boolean masks = fault == Fault.SWAPPED_MASKS;
      long swap = operand(request, (fields ? words : 0) + word);
      long compare = operand(request, (fields ? 0 : words) + word);
      long swapMask = operand(request, (masks ? 3 : 2) * words + word);
      long mask = operand(request, (masks ? 2 : 3) * words + word);
      swapMask = fault == Fault.SWAP_MASK_IGNORED ? -1 : half ? 0 : swapMask;
      mask = fault == Fault.COMPARE_MASK_IGNORED ? -1 : half ? 0 : mask;
      mask = fault == Fault.NOTHING_COMPARED ? 0 : mask;
      mask = fault == Fault.HALF_COMPARED_16 && i > 0 ? 0 : mask;
      matches &= ((found[i] ^ compare) & mask) == 0;
      after[i] = (found[i] & ~swapMask) | (swap & swapMask);
    }
    return matches ? after : found;
  }

  private long[] sum(MemorySegment request, long found) {
    boolean swapped = fault == Fault.BOUNDARIES_ADDED;
    long addend = operand(request, swapped ? 1 : 0);
    long boundaries = fault == Fault.BOUNDARIES_IGNORED ? 0 : operand(request, swapped ? 0 : 1);
    long sum = 0;
    int carry = 0;
    for (int bit = 0; bit < Long.SIZE; bit++) {
      int bits = (int) (found >>> bit & 1) + (int) (addend >>> bit & 1) + carry;
      sum |= (bits & 1L) << bit;
      carry = (boundaries >>> bit & 1) == 1 ? 0 : bits >>> 1;
    }
    return new long[] {sum};
  }

  private long operand(MemorySegment request, int word) {
    return request.get(
        fault == Fault.LITTLE_ENDIAN_OPERANDS ? LITTLE : BIG, 32 + (long) word * Long.BYTES);
  }

  private void answer(long local, long[] words) {
    for (int i = 0; i < words.length; i++) {
      at(local + 8L * i, 8).set(fault == Fault.BIG_ENDIAN_RESULT ? BIG : LITTLE, 0, words[i]);
    }
  }

  private static long[] words(long remote, int bytes) {
    long[] words = new long[bytes / Long.BYTES];
    for (int i = 0; i < words.length; i++) {
      words[i] = at(remote + 8L * i, 8).get(LITTLE, 0);
    }
    return words;
  }

  private static void store(long remote, long[] words) {
    for (int i = 0; i < words.length; i++) {
      at(remote + 8L * i, 8).set(LITTLE, 0, words[i]);
    }
  }

  private void complete(boolean signalled, long number) {
    if (signalled) {
      completions.add(number);
    }
  }

  private void fail(Status because) {
    if (status == Status.SUCCESS) {
      status = because;
    }
  }

  private static MemorySegment at(long address, long bytes) {
    return NativeMemory.at(address, bytes);
  }
}
