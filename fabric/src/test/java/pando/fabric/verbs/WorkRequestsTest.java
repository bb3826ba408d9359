package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.verbs.Abi.IbvSendWr;
import pando.fabric.verbs.SoftwareCard.Fault;

/** Lists of verbs, of which some are raw requests: their order, and their one completion. */
class WorkRequestsTest {
  private static final int CAPACITY = 8;

  private final NativeMemory memory = NativeMemory.allocate(4096);
  private final List<WorkRequests> made = new ArrayList<>();

  /** Which verbs were posted at once: a chain, or a row of raw requests. */
  private final List<String> postings = new ArrayList<>();

  @AfterEach
  void free() {
    made.forEach(WorkRequests::close);
    memory.close();
  }

  private WorkRequests requests() {
    WorkRequests requests = new WorkRequests(CAPACITY);
    made.add(requests);
    return requests;
  }

  @Test
  void shouldPostAPlainListAtOnce() {
    WorkRequests requests = requests();
    add(requests, "wrc");
    SoftwareCard card = post(requests);
    assertThat(card.done()).containsExactly("WRITE", "READ", "CAS");
    assertThat(postings).containsExactly("chain");
    assertThat(card.completions()).containsExactly(102L);
  }

  @Test
  void shouldKeepTheOrderOfPlainVerbsAndRawRequests() {
    WorkRequests requests = requests();
    add(requests, "wmfrw6c");
    SoftwareCard card = post(requests);
    assertThat(card.done())
        .containsExactly(
            "WRITE", "MASKED_CAS_8", "MASKED_FAA", "READ", "WRITE", "MASKED_CAS_16", "CAS");
    assertThat(postings).containsExactly("chain", "raw 1-3", "chain", "raw 5-6", "chain");
    assertThat(card.completions()).containsExactly(106L);
  }

  @Test
  void shouldCompleteByARawRequest() {
    WorkRequests requests = requests();
    add(requests, "wm");
    SoftwareCard card = post(requests);
    assertThat(card.completions()).containsExactly(101L);
    assertThat(requests.number(1)).isEqualTo(101);
  }

  @Test
  void shouldForgetWhatAPlaceContainedBefore() {
    WorkRequests requests = requests();
    add(requests, "mm");
    post(requests);
    requests.clear();
    postings.clear();
    add(requests, "ww");
    SoftwareCard card = post(requests);
    assertThat(card.done()).containsExactly("WRITE", "WRITE");
    assertThat(postings).containsExactly("chain");
  }

  @Test
  void shouldPostPlainListsBehindEachOtherAtOnce() {
    WorkRequests first = requests();
    WorkRequests second = requests();
    add(first, "wr");
    add(second, "cw");
    first.finish(100);
    second.finish(200);
    first.setNext(second);
    SoftwareCard card = new SoftwareCard(Fault.NONE);
    first.post(noting(card));
    assertThat(card.done()).containsExactly("WRITE", "READ", "CAS", "WRITE");
    assertThat(postings).containsExactly("chain");
    assertThat(card.completions()).containsExactly(101L, 201L);
  }

  /** Lists of any verbs, one behind the other, as sessions of a lane have them. */
  @Test
  void shouldKeepTheOrderOfListsBehindEachOther() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      List<String> kinds = new ArrayList<>();
      List<WorkRequests> lists = new ArrayList<>();
      List<Long> completions = new ArrayList<>();
      for (int list = 0; list < 3; list++) {
        lists.add(requests());
        String some =
            IntStream.range(0, 1 + random.nextInt(CAPACITY))
                .mapToObj(verb -> "wrcmf6".substring(random.nextInt(6)).substring(0, 1))
                .reduce("", String::concat);
        add(lists.get(list), some);
        some.chars().forEach(kind -> kinds.add(name((char) kind)));
        lists.get(list).finish(100L * list);
        completions.add(100L * list + some.length() - 1);
      }
      lists.get(0).setNext(lists.get(1));
      lists.get(1).setNext(lists.get(2));
      SoftwareCard card = new SoftwareCard(Fault.NONE);
      lists.getFirst().post(card);
      assertThat(card.done()).isEqualTo(kinds);
      assertThat(card.completions()).isEqualTo(completions);
    }
  }

  @Test
  void shouldLetARawRequestWaitForReads() {
    WorkRequests requests = requests();
    requests.maskedFaa(
        IbvSendWr.FENCE, local(0), SoftwareCard.LOCAL_KEY, remote(), SoftwareCard.REMOTE_KEY, 1, 0);
    requests.finish(1);
    assertThat(NativeMemory.at(requests.rawAddress(0), 16).get(ValueLayout.JAVA_BYTE, 11))
        .isEqualTo((byte) 0x88);
  }

  private SoftwareCard post(WorkRequests requests) {
    SoftwareCard card = new SoftwareCard(Fault.NONE);
    requests.finish(100);
    requests.post(noting(card));
    return card;
  }

  private WorkRequests.Poster noting(SoftwareCard card) {
    return new WorkRequests.Poster() {
      @Override
      public void postChain(WorkRequests requests, long chain) {
        postings.add("chain");
        card.postChain(requests, chain);
      }

      @Override
      public void postRaw(WorkRequests requests, int start, int end) {
        postings.add("raw " + start + "-" + end);
        card.postRaw(requests, start, end);
      }
    };
  }

  private void add(WorkRequests requests, String kinds) {
    for (int i = 0; i < kinds.length(); i++) {
      int place = requests.size();
      long local = local(place);
      int localKey = SoftwareCard.LOCAL_KEY;
      int key = SoftwareCard.REMOTE_KEY;
      switch (kinds.charAt(i)) {
        case 'r' -> requests.transfer(IbvSendWr.READ, 0, local, localKey, 8, remote(), key);
        case 'w' -> requests.transfer(IbvSendWr.WRITE, 0, local, localKey, 8, remote(), key);
        case 'c' -> requests.cas(0, local, localKey, remote(), key, 1, 2);
        case 'm' -> requests.maskedCas(0, local, localKey, remote(), key, 1, 2, 3, 4);
        case 'f' -> requests.maskedFaa(0, local, localKey, remote(), key, 1, 2);
        default -> {
          Words.set(memory.segment(), 2048, 1);
          requests.maskedCas16(0, local, localKey, remote(), key, memory.segment(), 2048);
        }
      }
    }
  }

  private static String name(char kind) {
    return switch (kind) {
      case 'r' -> "READ";
      case 'w' -> "WRITE";
      case 'c' -> "CAS";
      case 'm' -> "MASKED_CAS_8";
      case 'f' -> "MASKED_FAA";
      default -> "MASKED_CAS_16";
    };
  }

  private long local(int place) {
    return memory.segment().address() + 16L * place;
  }

  private long remote() {
    return memory.segment().address() + 1024;
  }
}
