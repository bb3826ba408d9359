package pando.baselines.deft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every interleaving of a few clients on one word, from words that are about to wrap. A client
 * takes a ticket, sees its turn, perhaps exchanges its lock, and lets go; each is one step. One who
 * gives up is one who lets go as soon as its turn has come, so it is among them.
 */
@Tag("campaign")
class SxWordModelTest {
  private static final int CLIENTS = 4;

  /** What a client does. */
  private enum Program {
    SHARED,
    EXCLUSIVE,
    UPGRADE,
    TRY
  }

  /** Where a client is. */
  private enum At {
    START,
    WAITS_SHARED,
    SHARED,
    WAITS_EXCLUSIVE,
    EXCLUSIVE,
    END
  }

  /**
   * A client.
   *
   * @param xTicket found with its ticket
   * @param sTicket found with its ticket
   */
  private record Client(Program program, At at, int xTicket, int sTicket) {
    Client to(At next) {
      return new Client(program, next, xTicket, sTicket);
    }

    Client waiting(At next, long before) {
      return new Client(program, next, SxWord.xTicket(before), SxWord.sTicket(before));
    }
  }

  private record State(long word, List<Client> clients) {
    State with(int client, Client changed, long newWord) {
      List<Client> copy = new ArrayList<>(clients);
      copy.set(client, changed);
      return new State(newWord, List.copyOf(copy));
    }

    long count(At at) {
      return clients.stream().filter(client -> client.at == at).count();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 0xFFFE_FFFE_FFFF_FFFFL, 0x7FFF_7FFF_7FFE_7FFEL})
  void shouldExcludeAndEndWhateverTheOrder(long idle) {
    int states = 0;
    for (List<Program> programs : allPrograms()) {
      states += explore(idle, programs);
    }
    System.out.println("states=" + states);
  }

  private static List<List<Program>> allPrograms() {
    List<List<Program>> all = new ArrayList<>();
    all.add(List.of());
    for (int i = 0; i < CLIENTS; i++) {
      List<List<Program>> longer = new ArrayList<>();
      for (List<Program> programs : all) {
        for (Program next : Program.values()) {
          // In order: clients are alike.
          if (programs.isEmpty() || programs.getLast().compareTo(next) <= 0) {
            List<Program> more = new ArrayList<>(programs);
            more.add(next);
            longer.add(more);
          }
        }
      }
      all = longer;
    }
    return all;
  }

  private static int explore(long idle, List<Program> programs) {
    State first =
        new State(idle, programs.stream().map(each -> new Client(each, At.START, 0, 0)).toList());
    Set<State> seen = new HashSet<>(Set.of(first));
    Deque<State> open = new ArrayDeque<>(seen);
    while (!open.isEmpty()) {
      State state = open.remove();
      check(state);
      List<State> successors = successors(state);
      if (successors.isEmpty()) {
        assertThat(state.count(At.END)).as("stuck: %s", state).isEqualTo(CLIENTS);
        assertThat(SxWord.isIdle(state.word)).isTrue();
      }
      successors.stream().filter(seen::add).forEach(open::add);
    }
    return seen.size();
  }

  private static void check(State state) {
    long exclusive = state.count(At.EXCLUSIVE);
    assertThat(exclusive).as("%s", state).isLessThanOrEqualTo(1);
    if (exclusive > 0) {
      assertThat(state.count(At.SHARED)).as("%s", state).isZero();
    }
    boolean nobody = state.count(At.START) + state.count(At.END) == CLIENTS;
    assertThat(SxWord.isIdle(state.word)).as("%s", state).isEqualTo(nobody);
  }

  private static List<State> successors(State state) {
    List<State> all = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      State next = step(state, i, state.clients.get(i));
      if (!next.equals(state)) {
        all.add(next);
      }
    }
    return all;
  }

  /** Has a client go on, unless it has to wait. */
  private static State step(State state, int i, Client client) {
    long word = state.word;
    return switch (client.at) {
      case START -> start(state, i, client);
      case WAITS_SHARED -> {
        boolean may = SxWord.mayEnterShared(word, client.xTicket);
        yield state.with(i, may ? client.to(At.SHARED) : client, word);
      }
      case WAITS_EXCLUSIVE -> {
        boolean may = SxWord.mayEnterExclusive(word, client.xTicket, client.sTicket);
        yield state.with(i, may ? client.to(At.EXCLUSIVE) : client, word);
      }
      case SHARED ->
          client.program == Program.UPGRADE
              ? state.with(i, upgraded(client, word), SxWord.add(word, SxWord.UPGRADE))
              : state.with(i, client.to(At.END), SxWord.add(word, SxWord.LEAVE_SHARED));
      case EXCLUSIVE -> state.with(i, client.to(At.END), SxWord.add(word, SxWord.LEAVE_EXCLUSIVE));
      case END -> state;
    };
  }

  private static State start(State state, int i, Client client) {
    long word = state.word;
    return switch (client.program) {
      case SHARED, UPGRADE -> {
        boolean free = SxWord.isFreeForShared(word);
        At next = free ? At.SHARED : At.WAITS_SHARED;
        yield state.with(i, client.waiting(next, word), SxWord.add(word, SxWord.TAKE_SHARED));
      }
      case EXCLUSIVE -> {
        At next = SxWord.isIdle(word) ? At.EXCLUSIVE : At.WAITS_EXCLUSIVE;
        yield state.with(i, client.waiting(next, word), SxWord.add(word, SxWord.TAKE_EXCLUSIVE));
      }
      case TRY ->
          SxWord.isIdle(word)
              ? state.with(
                  i, client.waiting(At.EXCLUSIVE, word), SxWord.add(word, SxWord.TAKE_EXCLUSIVE))
              : state.with(i, client.to(At.END), word);
    };
  }

  private static Client upgraded(Client client, long before) {
    At next = SxWord.isFreeForUpgrade(before) ? At.EXCLUSIVE : At.WAITS_EXCLUSIVE;
    return client.waiting(next, before);
  }
}
