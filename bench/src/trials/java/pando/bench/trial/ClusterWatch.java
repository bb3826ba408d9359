package pando.bench.trial;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import pando.cluster.Change;
import pando.cluster.ClusterState;
import pando.cluster.Config;
import pando.cluster.Entry;
import pando.cluster.Member;
import pando.cluster.MemoryCoordinator;
import pando.cluster.MemoryMembership;
import pando.fabric.ComputeServer;
import pando.index.Partitioning;
import pando.sim.history.History;
import pando.sim.history.Loss;

/**
 * Sees at once all that a simulated cluster's coordinator has and all that compute servers answer,
 * and checks what must always hold: that at most one compute server answers for a key, and none
 * once its fence is over; that there is one leader for each epoch of leaders; that no compute
 * server is announced that was fenced before.
 *
 * <p>It also notes what is lost. Once the epoch of a number is raised, what earlier starts of it
 * have not written back may be gone, until an heir or the new start serves. Where a pool ends, and
 * the next one has the entries of data folders, what was answered is in it. It may lack a change
 * that an heir has shown, and that nobody acknowledged.
 */
final class ClusterWatch {
  private final ClusterState state;
  private final MemoryMembership session;
  private final int numbers;
  private final History history;
  private final TrialClock clock;

  /** Whether what was acknowledged may be lost. */
  private final boolean loses;

  private final List<String> violations = new ArrayList<>();

  /** What the clock of the trial had counted at some times, in virtual nanoseconds. */
  private final TreeMap<Long, Long> ticks = new TreeMap<>();

  /** When each compute server has answered last. */
  private final Map<ClusterServer, Long> lastAnswers = new HashMap<>();

  /** Greatest age of a change that may be lost, in nanoseconds; 0 if there is none. */
  private final long lostNanosMax;

  private final LongSupplier nanos;

  /** Compute servers that have started, those first that did first. */
  private final List<ClusterServer> servers = new ArrayList<>();

  /** The starts that clients' addresses lead to, also of those that others have replaced. */
  private final Map<String, ClusterServer> addresses = new HashMap<>();

  private final long[] epochs;

  /** The least epoch of each number of which something may be answered. */
  private final long[] answering;

  private final Map<Integer, OpenLoss> open = new TreeMap<>();

  /** What the clock of the trial had counted when the last generation was seen to have ended. */
  private long ended;

  private long generation;
  private final Map<Integer, String> leaders = new HashMap<>();

  /** Epochs of the compute servers that are announced, as it was seen last. */
  private Map<Integer, Long> announced = Map.of();

  /** Starts that were announced. */
  private final Set<ComputeServer> known = new HashSet<>();

  private int rejoined;
  private int losses;
  private long answers;

  /** What may be lost of the starts of a number before an epoch. */
  private static final class OpenLoss {
    final long start;
    final Set<Range> ranges = new LinkedHashSet<>();
    long since = Long.MAX_VALUE;
    long epoch;

    OpenLoss(long start) {
      this.start = start;
    }
  }

  /** Keys in a row. */
  record Range(long least, long greatest) {}

  ClusterWatch(
      MemoryCoordinator coordinator,
      int numbers,
      History history,
      TrialClock clock,
      boolean loses,
      long lostNanosMax,
      LongSupplier nanos) {
    this.session = coordinator.connect();
    this.state = new ClusterState(session);
    this.numbers = numbers;
    this.history = history;
    this.clock = clock;
    this.loses = loses;
    this.lostNanosMax = lostNanosMax;
    this.nanos = nanos;
    this.epochs = new long[numbers];
    this.answering = new long[numbers];
    session.watch(this::look);
  }

  /** Returns what the coordinator has now. */
  ClusterState state() {
    return state;
  }

  List<ClusterServer> servers() {
    return servers;
  }

  /** Returns the compute server that listens at an address of clients. */
  Optional<ClusterServer> at(String address) {
    return Optional.ofNullable(addresses.get(address)).filter(ClusterServer::isOpen);
  }

  List<String> violations() {
    return violations;
  }

  /** Returns how many operations compute servers have answered. */
  long answers() {
    return answers;
  }

  /** Returns how often a compute server was announced again, after the end of its session. */
  int rejoined() {
    return rejoined;
  }

  /** Returns how often a compute server was lost. */
  int losses() {
    return losses;
  }

  /** Notes a start: earlier ones of its number have lost what they lose, and it may lose again. */
  void started(ClusterServer server) {
    servers.add(server);
    addresses.put(server.address(), server);
    addresses.put(ClusterServer.address(server.number(), 0), server);
    end(server.number(), server.epoch());
  }

  private void look() {
    for (int number = 0; number < numbers; number++) {
      long epoch = state.lastEpoch(number);
      if (epoch > epochs[number]) {
        if (epochs[number] > 0) {
          raised(number, epoch);
        }
        epochs[number] = epoch;
      }
    }
    state.changes().stream()
        .filter(change -> change.kind() == Change.Kind.FENCE && change.leastEpoch() > 0)
        .forEach(this::lookAtFence);
    List<Member> members = state.computeServers();
    lookAtAnnounced(members);
    members.stream().filter(Member::isServing).forEach(this::lookAtServing);
    lookAtLeader();
    lookAtGeneration();
  }

  private void lookAtGeneration() {
    long now = state.config().map(Config::generation).orElse(0L);
    if (generation > 0 && now == 0 && ended == 0) {
      ended = clock.tick();
    }
    if (now > generation) {
      if (ended > 0) {
        history.add(
            new Loss(
                ended, clock.tick(), Long.MIN_VALUE, Long.MAX_VALUE, Loss.NOTHING_ACKNOWLEDGED));
        ended = 0;
      }
      generation = now;
    }
  }

  private void raised(int number, long epoch) {
    OpenLoss loss = open.computeIfAbsent(number, _ -> new OpenLoss(clock.tick()));
    loss.epoch = epoch;
    addRanges(number, loss);
    losses++;
  }

  private void lookAtFence(Change fence) {
    boolean isDone = fence.state() == Change.State.DONE;
    if (isDone || fence.executor() != Change.NONE) {
      nothingAnswersBefore(fence.server(), fence.leastEpoch());
    }
    if (isDone) {
      end(fence.server(), fence.leastEpoch());
    }
  }

  private void lookAtAnnounced(List<Member> members) {
    Map<Integer, Long> before = announced;
    announced = members.stream().collect(Collectors.toMap(Member::number, Member::epoch));
    announced.forEach((number, epoch) -> {
      if (!epoch.equals(before.get(number))) {
        lookAtAnnounced(number, epoch);
      }
    });
  }

  private void lookAtAnnounced(int number, long epoch) {
    rejoined += known.add(new ComputeServer(number, epoch)) ? 0 : 1;
    if (epoch < epochs[number]) {
      violations.add(
          "announced although it was fenced: number=%s, epoch=%s, last=%s"
              .formatted(number, epoch, epochs[number]));
    }
  }

  private void lookAtServing(Member member) {
    nothingAnswersBefore(member.number(), member.epoch());
    end(member.number(), member.epoch());
  }

  private void nothingAnswersBefore(int number, long epoch) {
    answering[number] = Math.max(answering[number], epoch);
  }

  private void end(int number, long epoch) {
    OpenLoss loss = open.get(number);
    if (loss != null && epoch >= loss.epoch) {
      open.remove(number);
      end(number, loss);
    }
  }

  private void end(int number, OpenLoss loss) {
    addRanges(number, loss);
    servers.removeIf(server -> server.number() == number && server.epoch() < loss.epoch);
    if (loses) {
      long end = clock.tick();
      loss.ranges.forEach(range ->
          history.add(new Loss(loss.start, end, range.least(), range.greatest(), since(loss))));
    }
  }

  private long since(OpenLoss loss) {
    return lostNanosMax == 0 || loss.since == Long.MAX_VALUE ? Loss.EVER : loss.since;
  }

  /** Returns what the clock had counted when changes were made that a server has surely written. */
  private long written(ClusterServer server) {
    Long answered = lastAnswers.get(server);
    if (answered == null) {
      return Long.MAX_VALUE;
    }
    Map.Entry<Long, Long> before = ticks.floorEntry(answered - lostNanosMax);
    return before == null ? Loss.EVER : before.getValue();
  }

  private void addRanges(int number, OpenLoss loss) {
    for (ClusterServer server : servers) {
      Partitioning known = server.partitioning();
      if (server.number() == number && server.epoch() < loss.epoch && known.hasServer(number)) {
        loss.ranges.add(server.range());
        loss.since = Math.min(loss.since, written(server));
      }
    }
  }

  private void lookAtLeader() {
    Optional<Entry> epoch = session.read("leader-epoch");
    Optional<Entry> leader = session.read("leader");
    if (epoch.isPresent() && leader.isPresent()) {
      String text = Arrays.toString(leader.get().bytes());
      String before = leaders.putIfAbsent(epoch.get().version(), text);
      if (before != null && !before.equals(text)) {
        violations.add(
            "two lead in an epoch: epoch=%s, leaders=%s, %s"
                .formatted(epoch.get().version(), before, text));
      }
    }
  }

  /** Checks that a compute server may answer now for a key. */
  void answered(ClusterServer server, long key) {
    answers++;
    ticks.put(nanos.getAsLong(), clock.tick());
    lastAnswers.put(server, nanos.getAsLong());
    int number = server.number();
    if (server.epoch() < answering[number]) {
      violations.add(
          "answered after others had taken over: %s, key=%s, leastEpoch=%s"
              .formatted(server, key, answering[number]));
    }
    List<ClusterServer> answer = servers.stream().filter(other -> other.answers(key)).toList();
    if (answer.size() > 1) {
      violations.add("several compute servers answer for a key: key=" + key + ", " + answer);
    }
  }

  /** Ends what is still being lost, as the trial is over. */
  void close() {
    open.forEach(this::end);
    open.clear();
  }
}
