package pando.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import pando.client.Routes;

/**
 * What a coordinator knows of a cluster, as records. Thread-safe.
 *
 * <p>Reads decode what they find, and throw {@link MalformedEntryException} if Pando has not
 * written it. Writes return whether they were made: {@code false} means that something has changed
 * meanwhile, so read again.
 */
public final class ClusterState {
  private static final char EPOCH_KIND = 'e';
  private static final char COUNT_KIND = 'n';

  private final Membership membership;

  /**
   * Creates a view of a cluster.
   *
   * @param membership the session with the coordinator
   */
  public ClusterState(Membership membership) {
    this.membership = membership;
  }

  /**
   * A record, and the version of its entry.
   *
   * @param <T> kind of record
   */
  record Versioned<T>(T value, int version) {}

  /**
   * The compute server that leads.
   *
   * @param version of its entry
   */
  record Leadership(int number, long epoch, int version) {
    static final char KIND = 'l';

    static byte[] encode(int number, long epoch) {
      return new EntryWriter(KIND).number(number).word(epoch).bytes();
    }

    /** Returns whether this is a compute server, as started with an epoch. */
    boolean isOf(int server, long itsEpoch) {
      return number == server && epoch == itsEpoch;
    }
  }

  /** Returns the session with the coordinator. */
  public Membership membership() {
    return membership;
  }

  private <T> Optional<Versioned<T>> read(String path, Function<byte[], T> decode) {
    return membership
        .read(path)
        .map(entry -> new Versioned<>(decode.apply(entry.bytes()), entry.version()));
  }

  private <T> List<T> readAll(String folder, Function<byte[], T> decode) {
    List<T> all = new ArrayList<>();
    for (String name : membership.list(folder)) {
      read(folder + "/" + name, decode).ifPresent(found -> all.add(found.value()));
    }
    return all;
  }

  /** Returns the write of an entry: changes it if it has a version, creates it if not. */
  private static Write put(String path, Optional<Integer> version, byte[] bytes) {
    return version
        .<Write>map(found -> new Write.Set(path, found, bytes))
        .orElseGet(() -> new Write.Create(path, bytes));
  }

  /** As {@link #put(String, Optional, byte[])}; a negative version stands for none. */
  private static Write put(String path, Versioned<?> before, byte[] bytes) {
    return put(path, Optional.of(before.version()).filter(found -> found >= 0), bytes);
  }

  // Configuration and pool.

  /** Returns the configuration, once there is an index. */
  public Optional<Config> config() {
    return read(Folders.CONFIG, Config::decode).map(Versioned::value);
  }

  /** Writes the configuration, if there is none and this process leads. */
  boolean writeConfig(Config config, Leadership leadership) {
    return membership.commit(
        List.of(check(leadership), new Write.Create(Folders.CONFIG, config.encode())));
  }

  /**
   * Writes the configuration of a generation, if there is none, this process leads, the pool is
   * still that of its memory servers, and the choice of its folder is unchanged.
   */
  boolean beginGeneration(
      Config config, Leadership leadership, List<PoolEntry> pool, Versioned<Rebuild> choice) {
    List<Write> writes = new ArrayList<>();
    writes.add(check(leadership));
    writes.add(new Write.Create(Folders.CONFIG, config.encode()));
    Optional<Integer> version = lastConfigEntry().map(Versioned::version);
    writes.add(put(Folders.GENERATION, version, config.encode()));
    writes.add(put(Folders.REBUILD, choice, Rebuild.NONE.encode()));
    // A leader of the last generation may have written them after its end.
    addDelete(Folders.ROUTES, writes);
    for (PoolEntry entry : pool) {
      Optional<Versioned<PoolEntry>> found = poolEntry(entry.number());
      if (found.filter(now -> now.value().incarnation() == entry.incarnation()).isEmpty()) {
        return false;
      }
      // A memory server that starts meanwhile has read the entry before: its write is refused now.
      writes.add(
          put(
              Folders.of(Folders.POOL, entry.number()),
              found.map(Versioned::version),
              entry.encode()));
    }
    return membership.commit(writes);
  }

  /** Returns the configuration of the last generation, which may have ended. */
  public Optional<Config> lastConfig() {
    return lastConfigEntry().map(Versioned::value);
  }

  private Optional<Versioned<Config>> lastConfigEntry() {
    return read(Folders.GENERATION, Config::decode);
  }

  /** Returns the last generation that there was, 0 if there was none. */
  long generation() {
    return lastConfig().map(Config::generation).orElse(0L);
  }

  /**
   * Ends a generation, because a memory server has ended. All servers of the cluster see that, end
   * and start again. The pool has nothing that data folders do not have.
   *
   * @param seen the configuration; does nothing if it is another by now
   */
  void endGeneration(Config seen) {
    boolean _ = endGeneration(Optional.of(seen), List.of());
  }

  /**
   * Makes all servers start again, because the leader could not complete the beginning of a
   * generation. Does nothing if another process leads by now, or a generation has begun.
   */
  void giveGenerationUp(Leadership leadership) {
    boolean _ = endGeneration(Optional.empty(), List.of(check(leadership)));
  }

  private boolean endGeneration(Optional<Config> seen, List<Write> more) {
    List<Write> writes = new ArrayList<>(more);
    // Before the configuration is read, whose versions begin again with each generation. The first
    // generation has no such entry before it begins; what checks the leader is refused then.
    lastConfigEntry()
        .ifPresent(last -> writes.add(new Write.Check(Folders.GENERATION, last.version())));
    if (!config().equals(seen)) {
      return false;
    }
    seen.ifPresent(_ -> addDelete(Folders.CONFIG, writes));
    addDelete(Folders.ROUTES, writes);
    addDeletes(Folders.POOL, writes);
    addDeletes(Folders.CHANGES, writes);
    return membership.commit(writes);
  }

  /** Returns which data folder the next generation begins with, or why one must be chosen. */
  public Rebuild rebuild() {
    return rebuildEntry().value();
  }

  Versioned<Rebuild> rebuildEntry() {
    return read(Folders.REBUILD, Rebuild::decode).orElse(new Versioned<>(Rebuild.NONE, -1));
  }

  /**
   * Keeps generations from beginning until a person asks for a rebuild. Does nothing if another
   * process leads by now, or a generation has begun.
   */
  void awaitRebuild(Versioned<Rebuild> choice, String why, Leadership leadership) {
    Write await = put(Folders.REBUILD, choice, Rebuild.awaited(why).encode());
    boolean _ = endGeneration(Optional.empty(), List.of(check(leadership), await));
  }

  /**
   * Lets the next generation begin as a person wants it, and ends the one that serves, if any.
   *
   * @param from memory server with whose data folder it begins, whatever that has; {@link
   *     Rebuild#NEWEST} for the newest one
   * @return the last generation that has begun before
   * @throws IllegalArgumentException if memory servers of that number have no data folder
   * @throws ClusterException if the cluster, or that memory server, has no data folder
   */
  public long askForRebuild(int from) {
    while (true) {
      Optional<Config> serving = config();
      Rebuild asked = asked(from, serving.or(this::lastConfig));
      Write write = put(Folders.REBUILD, rebuildEntry(), asked.encode());
      long last = generation();
      // Where none serves, the one that begins one notices.
      boolean isAsked =
          serving.isPresent()
              ? endGeneration(serving, List.of(write))
              : membership.commit(List.of(write));
      if (isAsked) {
        return last;
      }
    }
  }

  private Rebuild asked(int from, Optional<Config> config) {
    int memoryServers = config.map(Config::memoryServers).orElseGet(() -> pool().size());
    boolean isKnown = config.isPresent() || from != Rebuild.NEWEST;
    if (!isKnown || memoryServers == 0) {
      throw new ClusterException("no such cluster, or it has no index yet: see its status");
    }
    LogMode log = config.map(Config::log).orElse(LogMode.DATA);
    if (log != LogMode.DATA) {
      throw new ClusterException(
          "the cluster has no data folders to begin with: log=%s".formatted(log));
    }
    Rebuild asked = from == Rebuild.NEWEST ? Rebuild.NONE : Rebuild.from(from, memoryServers);
    if (from != Rebuild.NEWEST && !hasFolder(from, config.isPresent())) {
      throw new ClusterException(
          ("no generation could begin with it, as memory server %s has no data folder, or does not"
                  + " run: start it with one (pando memory-server --data), then ask again")
              .formatted(from));
    }
    int before = rebuild().from();
    if (from != Rebuild.NEWEST && before != Rebuild.NEWEST && before != from) {
      throw new ClusterException(
          ("a rebuild from memory server %s is under way, so the folder of memory server %s may"
                  + " have its entries already; its own files are then in replaced-by-... there")
              .formatted(before, from));
    }
    return asked;
  }

  /**
   * Returns whether a memory server has a data folder.
   *
   * @param isExpected whether it has one if it does not run
   */
  private boolean hasFolder(int memoryServer, boolean isExpected) {
    return poolEntry(memoryServer).map(found -> found.value().hasFolder()).orElse(isExpected);
  }

  /**
   * Waits until a generation after a given one has begun, and returns it. Returns none when the
   * time is over, or when a {@linkplain Rebuild#isAwaited person has to choose} first.
   *
   * @throws ClusterException if the thread is interrupted
   */
  public Optional<Config> awaitGeneration(long after, Duration longest) {
    Supplier<Optional<Config>> next = () -> config().filter(its -> its.generation() > after);
    boolean _ =
        Waiting.isTrue(
            Host.real(),
            membership,
            longest,
            () -> next.get().isPresent() || rebuild().isAwaited());
    return next.get();
  }

  private void addDeletes(String folder, List<Write> writes) {
    membership.list(folder).forEach(name -> addDelete(folder + "/" + name, writes));
  }

  private void addDelete(String path, List<Write> writes) {
    membership.read(path).ifPresent(entry -> writes.add(new Write.Delete(path, entry.version())));
  }

  /** Returns the memory servers that belong to the pool, by number. */
  public List<PoolEntry> pool() {
    List<PoolEntry> pool = readAll(Folders.POOL, PoolEntry::decode);
    pool.sort(Comparator.comparingInt(PoolEntry::number));
    return pool;
  }

  Optional<Versioned<PoolEntry>> poolEntry(int number) {
    return read(Folders.of(Folders.POOL, number), PoolEntry::decode);
  }

  /**
   * Announces a memory server that runs as long as this session lasts, and writes its entry in the
   * pool.
   *
   * @return whether it was announced; {@code false} if another process has its number
   */
  public boolean announceMemory(PoolEntry entry) {
    return announceMemory(entry, poolEntry(entry.number()));
  }

  /** As {@link #announceMemory(PoolEntry)}, if its entry in the pool is still as seen before. */
  boolean announceMemory(PoolEntry entry, Optional<Versioned<PoolEntry>> before) {
    Member member =
        Machine.member(entry.number(), entry.incarnation(), entry.address())
            .withState(ServerState.SERVING);
    String path = Folders.of(Folders.POOL, entry.number());
    Write write = put(path, before.map(Versioned::version), entry.encode());
    String announced = Folders.of(Folders.MEMORY, member.number());
    return membership.commit(List.of(write, new Write.Announce(announced, member.encode())));
  }

  boolean writePoolEntry(PoolEntry entry, int version, Leadership leadership) {
    String path = Folders.of(Folders.POOL, entry.number());
    return membership.commit(
        List.of(check(leadership), new Write.Set(path, version, entry.encode())));
  }

  // Members.

  /** Returns the memory servers that run. */
  public List<Member> memoryServers() {
    return members(Folders.MEMORY);
  }

  /** Returns the compute servers that run. */
  public List<Member> computeServers() {
    return members(Folders.COMPUTE);
  }

  private List<Member> members(String folder) {
    List<Member> members = readAll(folder, Member::decode);
    members.sort(Comparator.comparingInt(Member::number));
    return members;
  }

  /** Returns a compute server that runs. */
  public Optional<Member> computeServer(int number) {
    return member(number).map(Versioned::value);
  }

  Optional<Versioned<Member>> member(int number) {
    return read(Folders.of(Folders.COMPUTE, number), Member::decode);
  }

  /** Returns the last epoch that was given to a compute server's number, 0 for none. */
  public long lastEpoch(int number) {
    return epoch(number).value();
  }

  /** Returns the last epochs of all numbers that were given one. */
  Map<Integer, Long> lastEpochs() {
    Map<Integer, Long> epochs = new TreeMap<>();
    for (String name : membership.list(Folders.EPOCHS)) {
      int number = Integer.parseInt(name);
      epochs.put(number, lastEpoch(number));
    }
    return epochs;
  }

  Versioned<Long> epoch(int number) {
    return read(
            Folders.of(Folders.EPOCHS, number),
            bytes -> EntryReader.read(bytes, EPOCH_KIND, EntryReader::word))
        .orElse(new Versioned<>(0L, -1));
  }

  private static Write writeEpoch(int number, Versioned<Long> before, long epoch) {
    String path = Folders.of(Folders.EPOCHS, number);
    return put(path, before, new EntryWriter(EPOCH_KIND).word(epoch).bytes());
  }

  /** Announces a compute server, with the epoch after the last one that its number had. */
  boolean announceCompute(Member member, Versioned<Long> before) {
    return announce(member, before, before.value() + 1);
  }

  /**
   * Announces a compute server again, if its number has no later epoch. The entry of the epoch gets
   * a new version, so a process that has read the entry before cannot raise the epoch by what it
   * has read.
   */
  boolean announceAgain(Member member, Versioned<Long> before) {
    return announce(member, before, before.value());
  }

  private boolean announce(Member member, Versioned<Long> before, long epoch) {
    String path = Folders.of(Folders.COMPUTE, member.number());
    return membership.commit(
        List.of(
            writeEpoch(member.number(), before, epoch), new Write.Announce(path, member.encode())));
  }

  /** Changes a compute server's own entry. */
  boolean writeMember(Member member, int version) {
    return membership.commit(
        List.of(
            new Write.Set(Folders.of(Folders.COMPUTE, member.number()), version, member.encode())));
  }

  // The leader.

  /** Returns which compute server leads, if one does. */
  public Optional<Integer> leader() {
    return leadership().map(Leadership::number);
  }

  Optional<Leadership> leadership() {
    Optional<Entry> epoch = membership.read(Folders.LEADER_EPOCH);
    return membership
        .read(Folders.LEADER)
        .map(entry ->
            EntryReader.read(
                entry.bytes(),
                Leadership.KIND,
                reader ->
                    new Leadership(
                        reader.number(0, Member.NUMBER_MAX),
                        reader.word(),
                        epoch.map(Entry::version).orElse(-1))));
  }

  /**
   * Begins to lead, if none leads. Leader and epoch change together, so later writes of an earlier
   * leader are refused.
   */
  boolean lead(int number, long epoch) {
    Optional<Entry> before = membership.read(Folders.LEADER_EPOCH);
    byte[] bytes = Leadership.encode(number, epoch);
    Write raise = put(Folders.LEADER_EPOCH, before.map(Entry::version), bytes);
    return membership.commit(List.of(raise, new Write.Announce(Folders.LEADER, bytes)));
  }

  private static Write check(Leadership leadership) {
    return new Write.Check(Folders.LEADER_EPOCH, leadership.version());
  }

  // Changes.

  /** Returns all changes that are kept, the oldest first. */
  public List<Change> changes() {
    List<Change> changes = readAll(Folders.CHANGES, Change::decode);
    changes.sort(Comparator.comparingInt(Change::id));
    return changes;
  }

  /** Returns a change, if it is kept. */
  public Optional<Change> change(int id) {
    return versionedChange(id).map(Versioned::value);
  }

  private Optional<Versioned<Change>> versionedChange(int id) {
    return read(Folders.of(Folders.CHANGES, id), Change::decode);
  }

  /** Returns a change, if it is still as seen before. */
  private Optional<Versioned<Change>> asSeen(Change seen) {
    return versionedChange(seen.id()).filter(found -> found.value().equals(seen));
  }

  /**
   * Asks for a change.
   *
   * @return its id
   * @throws CoordinatorLostException if the coordinator does not answer; it may have been asked for
   */
  public int ask(Change change) {
    while (true) {
      Optional<Versioned<Integer>> last =
          read(
              Folders.CHANGE_COUNT,
              bytes -> EntryReader.read(bytes, COUNT_KIND, EntryReader::number));
      int id = last.map(Versioned::value).orElse(0) + 1;
      byte[] count = new EntryWriter(COUNT_KIND).number(id).bytes();
      Write write = put(Folders.CHANGE_COUNT, last.map(Versioned::version), count);
      String path = Folders.of(Folders.CHANGES, id);
      if (membership.commit(List.of(write, new Write.Create(path, change.withId(id).encode())))) {
        return id;
      }
    }
  }

  /**
   * Waits until a change is over, and returns it. When the time is over, returns it as it is then.
   *
   * @throws ClusterException if it is not kept any more, or the thread is interrupted
   */
  public Change awaitEnd(int id, Duration longest) {
    boolean over =
        Waiting.isTrue(
            Host.real(), membership, longest, () -> change(id).map(Change::isOver).orElse(true));
    return change(id)
        .orElseThrow(() -> new ClusterException("no such change: id=" + id + ", was over=" + over));
  }

  /**
   * Returns what the cluster has agreed on, once a compute server has made its index.
   *
   * @throws WaitOverException if none does in time
   * @throws ClusterException if the thread is interrupted
   */
  public Config awaitConfig(Duration longest) {
    return Waiting.forValue(
        Host.real(),
        membership,
        longest,
        this::config,
        () -> "the cluster has no index, and one that makes it needs the number of memory servers");
  }

  /**
   * Waits until so many compute servers have a range and serve clients.
   *
   * @throws WaitOverException if they do not in time
   * @throws ClusterException if the thread is interrupted
   */
  public void awaitServing(int count, Duration longest) {
    Waiting.until(
        Host.real(),
        membership,
        longest,
        () ->
            routes().stream()
                    .flatMap(found -> found.routes().stream())
                    .filter(route -> !route.address().isEmpty())
                    .count()
                >= count,
        () -> "not so many compute servers serve: needed=" + count + ", routes=" + routes());
  }

  /** Writes a change, if it is still as the leader has seen it, and the leader still leads. */
  boolean writeChange(Change seen, Change changed, Leadership leadership) {
    return writeChange(seen, changed, List.of(check(leadership)));
  }

  /** Begins to fence a compute server: raises the epoch of its number. */
  boolean beginFence(Change seen, Versioned<Long> epoch, Leadership leadership) {
    return writeChange(
        seen,
        seen.fencing(epoch.value() + 1),
        List.of(check(leadership), writeEpoch(seen.server(), epoch, epoch.value() + 1)));
  }

  /**
   * Writes the result of a change as the compute server that executes it, unless its number has a
   * later epoch.
   */
  boolean writeExecuted(Change seen, Change now, Routes routes) {
    while (true) {
      Versioned<Long> epoch = epoch(seen.executor());
      Optional<Versioned<Change>> found = asSeen(seen);
      if (epoch.value() != seen.executorEpoch() || found.isEmpty()) {
        return false;
      }
      String counted = Folders.of(Folders.EPOCHS, seen.executor());
      String path = Folders.of(Folders.CHANGES, seen.id());
      List<Write> writes = new ArrayList<>();
      writes.add(new Write.Check(counted, epoch.version()));
      writes.add(new Write.Set(path, found.get().version(), now.encode()));
      newer(routes).ifPresent(writes::add);
      if (membership.commit(writes)) {
        return true;
      }
    }
  }

  private boolean writeChange(Change seen, Change changed, List<Write> conditions) {
    Optional<Versioned<Change>> found = asSeen(seen);
    if (found.isEmpty()) {
      return false;
    }
    List<Write> writes = new ArrayList<>(conditions);
    writes.add(
        new Write.Set(
            Folders.of(Folders.CHANGES, seen.id()), found.get().version(), changed.encode()));
    return membership.commit(writes);
  }

  /** Removes a change that is over. */
  void forget(Change change, Leadership leadership) {
    versionedChange(change.id())
        .ifPresent(found ->
            membership.commit(
                List.of(
                    check(leadership),
                    new Write.Delete(Folders.of(Folders.CHANGES, change.id()), found.version()))));
  }

  // Routes.

  /** Returns which compute server serves which keys, as written last. */
  public Optional<Routes> routes() {
    return read(Folders.ROUTES, RoutesEntry::decode).map(Versioned::value);
  }

  /** Writes the routes, if they differ from those that are there, and are not older. */
  void writeRoutes(Routes routes, Leadership leadership) {
    newer(routes).ifPresent(write -> membership.commit(List.of(check(leadership), write)));
  }

  /** Returns the write of routes, if they differ from those that are there, and are not older. */
  private Optional<Write> newer(Routes routes) {
    Optional<Versioned<Routes>> found = read(Folders.ROUTES, RoutesEntry::decode);
    boolean isNewer =
        found
            .map(Versioned::value)
            .filter(there -> there.equals(routes) || there.epoch() > routes.epoch())
            .isEmpty();
    return isNewer
        ? Optional.of(
            put(Folders.ROUTES, found.map(Versioned::version), RoutesEntry.encode(routes)))
        : Optional.empty();
  }
}
