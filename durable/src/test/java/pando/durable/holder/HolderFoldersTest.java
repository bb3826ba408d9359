package pando.durable.holder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import pando.durable.DurableStrings;
import pando.durable.NextGeneration;
import pando.fabric.ComputeServer;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;
import pando.fabric.local.LocalPool;
import pando.fabric.server.CallHandler;
import pando.fabric.server.PoolOptions;
import pando.index.Seeds;
import pando.index.bytes.ByteIndex;
import pando.index.bytes.ByteOptions;
import pando.index.bytes.ByteSession;
import pando.journal.DamagedFolderException;
import pando.journal.DataFolder;
import pando.journal.DataFolderException;
import pando.journal.EntryStream;
import pando.journal.EntryWords;
import pando.journal.FolderBackup;
import pando.journal.FolderLoad;
import pando.journal.LogFailedException;
import pando.journal.LogFullException;
import pando.journal.LogOptions;
import pando.journal.RecordBuilder;
import pando.journal.RecordStream;

class HolderFoldersTest {
  private static final String KIND = "words";
  private static final int SEGMENT_BYTES = 1 << 20;
  private static final ComputeServer ONE = new ComputeServer(1, 1);
  private static final long TERM = 4;

  @TempDir private Path folder;
  private final TreeMap<Long, Long> model = new TreeMap<>();

  @SuppressWarnings("NullAway.Init") // Set by start.
  private List<LogService> services;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private LocalPool pool;

  @SuppressWarnings("NullAway.Init") // Set by start.
  private Fabric fabric;

  /** Starts memory servers with empty memory, and their folders. */
  @BeforeEach
  void start() {
    LogOptions options = LogOptions.defaults().withSegmentBytes(SEGMENT_BYTES);
    services =
        List.of(
            new LogService(folder.resolve("0"), options, () -> {}),
            new LogService(folder.resolve("1"), options, () -> {}));
    pool =
        LocalPool.start(
            PoolOptions.defaults()
                .withMemoryServers(2)
                .withBytesPerServer(16 << 20)
                .withHandlers(List.of(new Each(services))));
    fabric = pool.attach(ONE, 8201);
  }

  @AfterEach
  void end() {
    fabric.close();
    pool.close();
    services.forEach(LogService::close);
  }

  private void restart() {
    end();
    start();
  }

  /** Has each memory server's requests served by its own service. */
  private record Each(List<LogService> services) implements CallHandler {
    @Override
    public int function() {
      return LogService.FUNCTION;
    }

    @Override
    public int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes) {
      return services.get(server).handle(server, dram, message, requestBytes);
    }
  }

  /** Opens the folders to begin with the newest one, as a leader. */
  private static HolderFolders open(Fabric fabric, String kind, long term) {
    return new HolderFolders(fabric, kind, 0, HolderFolders.NEWEST, DataFolder.NO_CLUSTER, term);
  }

  /** Begins the next generation; returns what it begins with. */
  private Map<Long, Long> begin(long generation) {
    Map<Long, Long> entries = new TreeMap<>();
    try (HolderFolders folders = open(fabric, KIND, TERM)) {
      while (folders.next()) {
        entries.put(EntryWords.key(folders.key()), EntryWords.value(folders.value()));
      }
      assertThat(folders.begin()).isEqualTo(generation);
    }
    return entries;
  }

  private void change(SplittableRandom random, int changes) {
    change(ONE, random, changes);
  }

  private void change(ComputeServer writer, SplittableRandom random, int changes) {
    HeldLog log = HeldLog.begin(fabric, writer, _ -> false, () -> {});
    RecordBuilder record = new RecordBuilder();
    for (int i = 0; i < changes; i++) {
      long key = random.nextLong(1_000);
      if (random.nextInt(3) == 0) {
        record.removeWord(key);
        model.remove(key);
      } else {
        record.putWord(key, i);
        model.put(key, (long) i);
      }
      log.reserve(record.bytes());
      log.append(record);
    }
    log.awaitSynced(log.end());
    log.close();
  }

  private Map<Long, Long> entriesOf(int holder) throws Exception {
    Map<Long, Long> entries = new TreeMap<>();
    try (DataFolder its =
            DataFolder.open(folder.resolve(String.valueOf(holder)), KIND, LogOptions.defaults());
        EntryStream stream = its.entries()) {
      while (stream.next()) {
        entries.put(EntryWords.key(stream.key()), EntryWords.value(stream.value()));
      }
    }
    return entries;
  }

  @Test
  void shouldHaveEverythingAgainInTheNextGeneration() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(8202));
    for (int generation = 1; generation <= 4; generation++) {
      assertThat(begin(generation)).isEqualTo(model);
      change(random, 3_000);
      restart();
    }
    end();
    assertThat(entriesOf(0)).isEqualTo(model);
    assertThat(entriesOf(1)).isEqualTo(model);
    start();
  }

  @Test
  void shouldBringAFolderUpThatIsNewOrOld() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(8203));
    begin(1);
    change(random, 500);
    end();
    Path old = folder.resolve("old");
    Files.move(folder.resolve("0"), old);
    start();
    assertThat(begin(2)).isEqualTo(model);
    change(random, 500);
    end();
    Files.move(folder.resolve("0"), folder.resolve("gone"));
    Files.move(old, folder.resolve("0"));
    start();
    assertThat(begin(3)).isEqualTo(model);
    end();
    assertThat(entriesOf(0)).isEqualTo(model);
    start();
  }

  @Test
  void shouldCopyEntriesLongerThanARequest() throws Exception {
    String bytes = "byte-strings";
    MemorySegment key = MemorySegment.ofArray(new byte[10_000]);
    MemorySegment value = MemorySegment.ofArray(new byte[1 << 20]);
    value.fill((byte) 7);
    try (DataFolder made = DataFolder.open(folder.resolve("1"), bytes, LogOptions.defaults())) {
      made.begin();
      RecordBuilder record = new RecordBuilder().put(key, value);
      made.log().reserve(record.bytes());
      made.log().append(record);
      made.setGeneration(UUID.randomUUID(), 1);
    }
    try (HolderFolders folders = open(fabric, bytes, TERM)) {
      assertThat(folders.next()).isTrue();
      assertThat(folders.key().mismatch(key)).isEqualTo(-1);
      assertThat(folders.value().mismatch(value)).isEqualTo(-1);
      assertThat(folders.next()).isFalse();
      folders.begin();
    }
    end();
    try (DataFolder copied = DataFolder.open(folder.resolve("0"), bytes, LogOptions.defaults());
        EntryStream stream = copied.entries()) {
      assertThat(stream.next()).isTrue();
      assertThat(stream.value().mismatch(value)).isEqualTo(-1);
      assertThat(stream.next()).isFalse();
    }
    start();
  }

  /** Its first compute server may be lost at once, and nothing of what it loads is logged. */
  @Test
  void shouldHaveAllInThePoolOnceAGenerationHasBegun() {
    int entries = 500;
    ByteOptions options = ByteOptions.defaults();
    try (DataFolder made =
        DataFolder.open(folder.resolve("0"), DurableStrings.KIND, LogOptions.defaults())) {
      made.begin();
      try (FolderLoad load = made.load()) {
        for (long key = 0; key < entries; key++) {
          load.append(key, key);
        }
        load.finish();
      }
    }
    try (NextGeneration next =
        new NextGeneration(
            fabric, options, 0, NextGeneration.NEWEST, DataFolder.NO_CLUSTER, TERM)) {
      next.begin(options.createAt(fabric, ONE.number()));
    }
    try (Fabric heir = pool.attach(new ComputeServer(ONE.number(), 2), 8208)) {
      heir.fence(ONE.number(), 2);
      try (ByteIndex index = ByteIndex.joinAt(heir, options, ONE.number());
          ByteSession session = index.session()) {
        MemorySegment least = MemorySegment.ofArray(new byte[0]);
        AtomicInteger found = new AtomicInteger();
        session.scan(least, null, Long.MAX_VALUE, (_, _) -> found.incrementAndGet() > 0);
        assertThat(found).hasValue(entries);
      }
    }
  }

  /** A power failure may cut the log of one machine alone, so that it lacks its last second. */
  @Test
  void shouldBeginWithTheFolderThatWasClosedInOrder() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(8209));
    begin(1);
    change(random, 300);
    restart();
    begin(2);
    Path early = copyOfRunning(folder.resolve("0"));
    change(random, 300);
    end();
    Files.move(folder.resolve("0"), folder.resolve("gone"));
    Files.move(early, folder.resolve("0"));
    start();
    // An attempt that ends half-way does not make the cut folder whole.
    open(fabric, KIND, TERM).close();
    restart();
    assertThat(begin(3)).isEqualTo(model);
  }

  private Path copyOfRunning(Path from) throws IOException {
    Path to = folder.resolve("early");
    Files.createDirectory(to);
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
    return to;
  }

  @Test
  void shouldTakeNothingBeforeTheFolderHasBegun() {
    try (HolderFolders opened = open(fabric, KIND, TERM);
        HeldLog log = HeldLog.begin(fabric, ONE, _ -> false, () -> {})) {
      assertThat(opened.next()).isFalse();
      RecordBuilder record = new RecordBuilder().putWord(1, 10);
      log.reserve(record.bytes());
      long place = log.append(record);
      assertThatThrownBy(() -> log.awaitSynced(place)).isInstanceOf(LogFailedException.class);
    }
  }

  /** A cluster may have its log in memory although memory servers could keep more. */
  @Test
  void shouldMakeNoFolderThatNobodyAsksFor() {
    change(new SplittableRandom(Seeds.of(8205)), 100);
    assertThat(folder).isEmptyDirectory();
  }

  /** The next one would take a part of the entries for all. */
  @Test
  void shouldNotGoOnWithWhatAnotherHasBegunToLoad() throws Exception {
    begin(1);
    change(new SplittableRandom(Seeds.of(8206)), 20_000);
    restart();
    try (HolderFolders first = open(fabric, KIND, TERM)) {
      for (int i = 0; i < 300; i++) {
        assertThat(first.next()).isTrue();
      }
    }
    assertThatThrownBy(() -> open(fabric, KIND, TERM))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has begun");
    restart();
    assertThat(begin(2)).isEqualTo(model);
  }

  /** It stood still while the next one began to read; what it asks for is no damage. */
  @Test
  void shouldRefuseAnEarlierLeader() {
    begin(1);
    change(new SplittableRandom(Seeds.of(8210)), 1_000);
    restart();
    try (HolderFolders earlier = open(fabric, KIND, TERM);
        HolderFolders later = open(fabric, KIND, TERM + 1)) {
      assertThat(later.next()).isTrue();
      assertThatThrownBy(earlier::next)
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("term=4, latest=5");
      assertThatThrownBy(() -> open(fabric, KIND, TERM)).hasMessageContaining("a later leader");
      int entries = 1;
      while (later.next()) {
        entries++;
      }
      assertThat(entries).isEqualTo(model.size());
      assertThat(later.begin()).isEqualTo(2);
    }
  }

  @Test
  void shouldCallAFolderDamagedThatIsFoundSoWhenItIsOpened() throws Exception {
    begin(1);
    change(new SplittableRandom(Seeds.of(8211)), 100);
    end();
    Files.writeString(folder.resolve("0/manifest"), "no manifest");
    start();
    assertThatThrownBy(() -> open(fabric, KIND, TERM))
        .isInstanceOf(DamagedFolderException.class)
        .hasMessageContaining("memoryServer=0");
  }

  @Test
  void shouldRefuseFoldersOfTwoClusters() throws Exception {
    begin(1);
    change(new SplittableRandom(Seeds.of(8207)), 100);
    end();
    Path other = folder.resolve("other");
    Files.move(folder.resolve("0"), other);
    Files.move(folder.resolve("1"), folder.resolve("1-kept"));
    start();
    begin(1);
    end();
    Files.move(folder.resolve("0"), folder.resolve("0-kept"));
    Files.move(other, folder.resolve("0"));
    start();
    assertThatThrownBy(() -> open(fabric, KIND, TERM))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("different clusters");
  }

  /** It is older, and of the same generation. */
  @Test
  void shouldRefuseABackupBesideAFolderOfItsCluster() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.of(8208));
    begin(1);
    change(random, 100);
    Path backup = folder.resolve("backup");
    FolderBackup.take(folder.resolve("0"), backup, Duration.ofMinutes(1));
    change(new ComputeServer(2, 1), random, 100);
    end();
    Files.move(folder.resolve("0"), folder.resolve("0-kept"));
    Files.move(backup, folder.resolve("0"));
    start();
    assertThatThrownBy(() -> open(fabric, KIND, TERM))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("different clusters");
  }

  /** Takes the names of the next files of a holder's log: none can be made, as on a full disk. */
  private List<Path> fillDisk(int holder) throws Exception {
    Path its = folder.resolve(String.valueOf(holder));
    long last;
    try (Stream<Path> files = Files.list(its)) {
      last =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.matches("log-[0-9a-f]{16}"))
              .mapToLong(name -> Long.parseLong(name.substring(4), 16))
              .max()
              .orElseThrow();
    }
    List<Path> taken = new ArrayList<>();
    for (long i = 1; i <= 3; i++) {
      Path name = its.resolve("log-%016x.new".formatted(last + i * SEGMENT_BYTES));
      Files.createDirectories(name.resolve("taken"));
      taken.add(name);
    }
    return taken;
  }

  private static void makeRoom(List<Path> taken) throws Exception {
    for (Path name : taken) {
      Files.deleteIfExists(name.resolve("taken"));
      Files.deleteIfExists(name);
    }
  }

  /** Appends changes until one is refused. */
  private void changeUntilFull(HeldLog log) {
    RecordBuilder record = new RecordBuilder();
    for (long i = 0; ; i++) {
      record.putWord(i % 1_000, i);
      try {
        log.reserve(record.bytes());
      } catch (LogFullException e) {
        assertThat(e).hasMessageContaining("make room").hasMessageContaining("memoryServer=0");
        return;
      }
      log.append(record);
      model.put(i % 1_000, i);
    }
  }

  private void assertBothFoldersHaveAll() throws Exception {
    end();
    assertThat(entriesOf(0)).isEqualTo(model);
    assertThat(entriesOf(1)).isEqualTo(model);
    start();
  }

  @Test
  void shouldRefuseChangesWhileADiskIsFullAndGoOnBehindThat() throws Exception {
    begin(1);
    List<Path> taken = fillDisk(0);
    HeldLog log = HeldLog.begin(fabric, ONE, _ -> false, () -> {});
    changeUntilFull(log);
    assertThat(log.synced()).isLessThan(log.end());
    assertThatThrownBy(() -> log.setHeadSurely(log.end()))
        .as("as where a compute server is closed")
        .isInstanceOf(LogFullException.class);
    makeRoom(taken);
    log.awaitSynced(log.end());
    boolean isRefused = true;
    while (isRefused) {
      try {
        log.reserve(32);
        isRefused = false;
      } catch (LogFullException e) {
        Thread.onSpinWait(); // The other holder's answer may have come first.
      }
    }
    log.close();
    assertBothFoldersHaveAll();
  }

  @Test
  void shouldSayWhyAFolderTakesNoCopy() throws Exception {
    begin(1);
    change(new SplittableRandom(Seeds.of(8209)), 100);
    end();
    Files.move(folder.resolve("1"), folder.resolve("1-kept"));
    start();
    try (HolderFolders folders = open(fabric, KIND, TERM)) {
      Files.createDirectories(folder.resolve("1/sorted-1.new/taken"));
      assertThatThrownBy(
              () -> {
                while (folders.next()) {
                  // All are read.
                }
                folders.begin();
              })
          .isInstanceOf(DataFolderException.class)
          .hasMessageContaining("memoryServer=1")
          .hasMessageContaining("the folder cannot be written");
    }
  }

  /** Sends a log to both holders until the folder of holder 0 does not take what that has. */
  private void sendUntilUnfiled() {
    RecordStream stream = new RecordStream(ONE.toString(), ONE.process());
    RecordBuilder record = new RecordBuilder();
    try (RegisteredMemory memory = fabric.register(Worker.CALL_BYTES_MAX);
        HolderCalls calls = new HolderCalls(fabric.worker(memory), memory.segment(), 1)) {
      MemorySegment frame = memory.segment();
      boolean isUnfiled = false;
      long place = 0;
      while (!isUnfiled) {
        MemorySegment records = MemorySegment.ofArray(new byte[100 * 32]);
        for (int i = 0; i < 100; i++) {
          record.putWord(i, place);
          model.put((long) i, place);
          MemorySegment bytes = stream.bytes(record, place + i * 32L, record.innerSum());
          MemorySegment.copy(bytes, 0, records, i * 32L, bytes.byteSize());
        }
        for (int holder = 1; holder >= 0; holder--) {
          MemorySegment.copy(records, 0, frame, LogFrame.RECORDS, records.byteSize());
          LogFrame.set(frame, LogFrame.APPEND, ONE, place, 0, 3, (int) records.byteSize());
          calls.call(holder);
        }
        isUnfiled = frame.get(LogFrame.LONG, LogFrame.KEPT) == place;
        place += records.byteSize();
      }
    }
  }

  @Test
  void shouldEndALogOnceAFullDiskHasRoom() throws Exception {
    begin(1);
    List<Path> taken = fillDisk(0);
    sendUntilUnfiled();
    try (Holders holders = new Holders(fabric, _ -> false)) {
      assertThatThrownBy(() -> holders.end(1, 2))
          .isInstanceOf(LogFullException.class)
          .hasMessageContaining("memoryServer=0");
      makeRoom(taken);
      boolean hasEnded = false;
      while (!hasEnded) {
        try {
          holders.end(1, 2);
          hasEnded = true;
        } catch (LogFullException e) {
          Thread.onSpinWait(); // It looks once a second.
        }
      }
      assertThat(holders.pending()).containsExactly(ONE);
    }
    assertBothFoldersHaveAll();
  }

  @Test
  void shouldRefuseAnotherKindAndHoldersWithoutAFolder() {
    begin(1);
    restart();
    assertThatThrownBy(() -> open(fabric, "byte-strings", TERM))
        .isInstanceOf(DataFolderException.class)
        .hasMessageContaining("another kind");
    List<LogService> bare = new ArrayList<>(List.of(new LogService(), new LogService()));
    try (LocalPool other =
            LocalPool.start(
                PoolOptions.defaults()
                    .withMemoryServers(2)
                    .withBytesPerServer(16 << 20)
                    .withHandlers(List.of(new Each(bare))));
        Fabric its = other.attach(ONE, 8204)) {
      assertThatThrownBy(() -> open(its, KIND, TERM)).hasMessageContaining("no data folder");
    }
  }
}
