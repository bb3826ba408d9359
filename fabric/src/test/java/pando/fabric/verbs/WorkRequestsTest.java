package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.Abi.IbvSge;

/** Lists of verbs as a card reads them: their order, and their one completion. */
class WorkRequestsTest {
  private static final int LOCAL_KEY = 0x1112_1314;
  private static final int REMOTE_KEY = 0x2122_2324;

  private final WorkRequests first = new WorkRequests(8);
  private final WorkRequests second = new WorkRequests(8);

  @AfterEach
  void free() {
    first.close();
    second.close();
  }

  @Test
  void shouldCompleteByTheLastVerbAlone() {
    add(first, "wrcf");
    first.finish(100);
    assertThat(read(first)).containsExactly("w 100", "r 101", "c 102", "f 103 signalled");
  }

  @Test
  void shouldForgetWhatAPlaceContainedBefore() {
    add(first, "ccc");
    first.finish(100);
    first.clear();
    add(first, "ww");
    first.finish(200);
    assertThat(read(first)).containsExactly("w 200", "w 201 signalled");
  }

  @Test
  void shouldPostListsBehindEachOtherAtOnce() {
    add(first, "wr");
    add(second, "cw");
    first.finish(100);
    second.finish(200);
    first.setNext(second);
    assertThat(read(first)).containsExactly("w 100", "r 101 signalled", "c 200", "w 201 signalled");
    first.finish(300);
    assertThat(read(first)).containsExactly("w 300", "r 301 signalled");
  }

  private static void add(WorkRequests requests, String kinds) {
    for (int i = 0; i < kinds.length(); i++) {
      long local = 1L + requests.size();
      switch (kinds.charAt(i)) {
        case 'r' -> requests.transfer(IbvSendWr.READ, 0, local, LOCAL_KEY, 8, 640, REMOTE_KEY);
        case 'w' -> requests.transfer(IbvSendWr.WRITE, 0, local, LOCAL_KEY, 8, 640, REMOTE_KEY);
        case 'c' -> requests.cas(0, local, LOCAL_KEY, 640, REMOTE_KEY, 7, -9);
        default -> requests.faa(0, local, LOCAL_KEY, 640, REMOTE_KEY, 7);
      }
    }
  }

  /** Reads requests from the first on: kind, number, and whether it completes. */
  private static List<String> read(WorkRequests requests) {
    List<String> found = new ArrayList<>();
    int place = 0;
    for (long at = requests.first(); at != 0; place++) {
      MemorySegment request = NativeMemory.at(at, IbvSendWr.BYTES);
      char kind = kind(request);
      int flags = request.get(ValueLayout.JAVA_INT, IbvSendWr.SEND_FLAGS);
      found.add(
          kind
              + " "
              + request.get(ValueLayout.JAVA_LONG, IbvSendWr.WR_ID)
              + ((flags & IbvSendWr.SIGNALED) == 0 ? "" : " signalled"));
      boolean atomic = kind == 'c' || kind == 'f';
      assertThat(request.get(ValueLayout.JAVA_LONG, IbvSendWr.RDMA_REMOTE_ADDR)).isEqualTo(640);
      assertThat(
              request.get(
                  ValueLayout.JAVA_INT, atomic ? IbvSendWr.ATOMIC_RKEY : IbvSendWr.RDMA_RKEY))
          .isEqualTo(REMOTE_KEY);
      if (atomic) {
        assertThat(request.get(ValueLayout.JAVA_LONG, IbvSendWr.ATOMIC_COMPARE_ADD)).isEqualTo(7);
        assertThat(request.get(ValueLayout.JAVA_LONG, IbvSendWr.ATOMIC_SWAP))
            .isEqualTo(kind == 'c' ? -9 : 0);
      }
      MemorySegment element =
          NativeMemory.at(request.get(ValueLayout.JAVA_LONG, IbvSendWr.SG_LIST), IbvSge.BYTES);
      assertThat(element.get(ValueLayout.JAVA_LONG, IbvSge.ADDR)).isBetween(1L, 8L);
      assertThat(element.get(ValueLayout.JAVA_INT, IbvSge.LENGTH)).isEqualTo(8);
      assertThat(element.get(ValueLayout.JAVA_INT, IbvSge.LKEY)).isEqualTo(LOCAL_KEY);
      at = request.get(ValueLayout.JAVA_LONG, IbvSendWr.NEXT);
    }
    assertThat(place).isGreaterThan(0);
    return found;
  }

  private static char kind(MemorySegment request) {
    return switch (request.get(ValueLayout.JAVA_INT, IbvSendWr.OPCODE)) {
      case IbvSendWr.READ -> 'r';
      case IbvSendWr.WRITE -> 'w';
      case IbvSendWr.COMPARE_AND_SWAP -> 'c';
      case IbvSendWr.FETCH_AND_ADD -> 'f';
      default -> '?';
    };
  }
}
