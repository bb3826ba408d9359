package pando.journal;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * A folder in memory that has crashes and failures.
 *
 * <p>It keeps apart what programs see and what is on the disk. A {@linkplain #crash crash} makes
 * another disk, a <em>clone</em>, that has what was forced, and of the rest what chance leaves:
 * each dirty page of 4 KiB is there, or not, or in some of its sectors of 512 bytes; a file has its
 * old length, its new one or one between; each change of a name took place or did not. The disk
 * itself goes on, so one run gives many clones. A clone is a disk like any other.
 *
 * <p>Whatever a program does to the disk, but for reading, is a <em>step</em>. A hook hears of each
 * one before it takes effect, and may crash the disk there. A step can be made to fail.
 *
 * <p>What chance leaves depends on the generator alone, as long as no thread stores into a mapping
 * meanwhile. Thread-safe.
 */
final class FaultyDisk implements Disk {
  /** Hears of steps. */
  @FunctionalInterface
  interface StepHook {
    /**
     * Hears of a step before it takes effect, in the thread that takes it.
     *
     * @param number 1 for the first step of the disk
     * @param text what it is, such as {@code force log-0000000000000000}
     */
    void at(long number, String text);
  }

  /**
   * A change of names.
   *
   * @param from the name that goes, if there is one
   * @param to the name that comes, if there is one
   */
  private record NameChange(@Nullable String from, @Nullable String to, FaultyFile file) {
    void apply(Map<String, FaultyFile> names) {
      if (from != null) {
        names.remove(from, file);
      }
      if (to != null) {
        names.put(to, file);
      }
    }
  }

  private static final long NEVER = 0;

  private final AtomicLong steps = new AtomicLong();
  private final Map<String, FaultyFile> seen = new TreeMap<>();
  private final Map<String, FaultyFile> kept = new TreeMap<>();

  /** What was done to names since they were forced, in order. */
  private final List<NameChange> pending = new ArrayList<>();

  private volatile StepHook hook = (_, _) -> {};
  private volatile long failing = NEVER;
  private volatile boolean forcesFail;
  private volatile boolean full;
  private volatile long room = Long.MAX_VALUE;
  private boolean namesLost;

  /** Has a hook hear of each step from now on, instead of the one before. */
  FaultyDisk withHook(StepHook next) {
    hook = next;
    return this;
  }

  /** Returns how many steps were taken. */
  long steps() {
    return steps.get();
  }

  /**
   * Has a step fail, once: for want of room if it creates or writes a file, else by an error of the
   * disk.
   *
   * @param step its number; 1 is the first of all
   */
  void failAt(long step) {
    failing = step;
  }

  /**
   * Has each force fail, until the disk {@linkplain #heal heals}. What a failed force of a file was
   * to write is lost: later ones succeed and do not write it, as the kernel takes it for clean.
   * Behind a failed force of the folder no change of names is ever safe.
   */
  void failForces() {
    forcesFail = true;
  }

  /**
   * Has the disk take no new file, and no more bytes of files, until it {@linkplain #heal heals}.
   */
  void fillUp() {
    full = true;
  }

  /** Has the disk say from now on how much room it has, and take any number of bytes. */
  void sayRoom(long bytes) {
    room = bytes;
  }

  /** Lets steps succeed again. What was lost stays lost. */
  void heal() {
    failing = NEVER;
    forcesFail = false;
    full = false;
    room = Long.MAX_VALUE;
  }

  /** Has some of what is not forced on the disk, as the kernel may at any time. */
  synchronized void writeBack(RandomGenerator random) {
    seen.values().forEach(file -> file.writeBack(random));
  }

  /** Returns the disk as it is found after the power was lost now. */
  synchronized FaultyDisk crash(RandomGenerator random) {
    Map<String, FaultyFile> names = new TreeMap<>(kept);
    Luck luck = Luck.draw(random);
    for (NameChange change : pending) {
      if (luck.keeps(random)) {
        change.apply(names);
      }
    }
    FaultyDisk clone = new FaultyDisk();
    Map<FaultyFile, FaultyFile> copies = new HashMap<>();
    names.forEach((name, file) ->
        clone.seen.put(name, copies.computeIfAbsent(file, its -> its.crash(random))));
    clone.kept.putAll(clone.seen);
    return clone;
  }

  /**
   * Returns the disk as another process finds it after this one was killed now: all that was
   * written is seen, and nothing is safer than before.
   */
  synchronized FaultyDisk kill() {
    FaultyDisk clone = new FaultyDisk();
    Map<FaultyFile, FaultyFile> copies = new HashMap<>();
    seen.forEach((name, file) -> clone.seen.put(name, copy(file, copies)));
    kept.forEach((name, file) -> clone.kept.put(name, copy(file, copies)));
    for (NameChange change : pending) {
      clone.pending.add(new NameChange(change.from(), change.to(), copy(change.file(), copies)));
    }
    clone.namesLost = namesLost;
    return clone;
  }

  private static FaultyFile copy(FaultyFile file, Map<FaultyFile, FaultyFile> copies) {
    return copies.computeIfAbsent(file, FaultyFile::copy);
  }

  /** Counts a step, and returns whether it is to fail. */
  private boolean step(String text) {
    long number = steps.incrementAndGet();
    hook.at(number, text);
    return number == failing;
  }

  private static void fail(boolean fails) throws IOException {
    if (fails) {
      throw new IOException("Input/output error");
    }
  }

  private static void failForce(boolean fails) throws IOException {
    if (fails) {
      throw new ForceFailedException("Input/output error", new IOException("Input/output error"));
    }
  }

  private static IOException noRoom() {
    return new IOException("No space left on device");
  }

  @Override
  public synchronized List<String> list() {
    return List.copyOf(seen.keySet());
  }

  @Override
  public DiskFile create(String name) throws IOException {
    if (step("create " + name) || full) {
      throw noRoom();
    }
    synchronized (this) {
      FaultyFile file = seen.get(name);
      if (file == null) {
        file = new FaultyFile();
        change(new NameChange(null, name, file));
      }
      file.truncate();
      return new OpenFile(name, file);
    }
  }

  @Override
  public DiskFile open(String name) throws IOException {
    fail(step("open " + name));
    synchronized (this) {
      return new OpenFile(name, named(name));
    }
  }

  @Override
  public long room() {
    return full ? 0 : room;
  }

  @Override
  public void rename(String from, String to) throws IOException {
    fail(step("rename " + from + " to " + to));
    synchronized (this) {
      change(new NameChange(from, to, named(from)));
    }
  }

  @Override
  public void remove(String name) throws IOException {
    fail(step("remove " + name));
    synchronized (this) {
      FaultyFile file = seen.get(name);
      if (file != null) {
        change(new NameChange(name, null, file));
      }
    }
  }

  private FaultyFile named(String name) throws NoSuchFileException {
    FaultyFile file = seen.get(name);
    if (file == null) {
      throw new NoSuchFileException(name);
    }
    return file;
  }

  private void change(NameChange change) {
    change.apply(seen);
    pending.add(change);
  }

  @Override
  public void force() throws IOException {
    boolean fails = step("force of the folder") || forcesFail;
    synchronized (this) {
      namesLost |= fails;
      failForce(fails);
      if (!namesLost) {
        pending.forEach(change -> change.apply(kept));
        pending.clear();
      }
    }
  }

  @Override
  public String toString() {
    return "faulty disk";
  }

  /** An open file. */
  private final class OpenFile implements DiskFile {
    private final String name;
    private final FaultyFile file;
    private int mappings;
    private volatile boolean closed;

    OpenFile(String name, FaultyFile file) {
      this.name = name;
      this.file = file;
    }

    private void checkOpen() throws ClosedChannelException {
      if (closed) {
        throw new ClosedChannelException();
      }
    }

    @Override
    public long bytes() throws IOException {
      checkOpen();
      synchronized (FaultyDisk.this) {
        return file.bytes();
      }
    }

    @Override
    public int read(long at, ByteBuffer into) throws IOException {
      checkOpen();
      synchronized (FaultyDisk.this) {
        return file.read(at, into);
      }
    }

    @Override
    public void write(long at, ByteBuffer from) throws IOException {
      checkOpen();
      boolean fails = step("write " + name);
      synchronized (FaultyDisk.this) {
        int count = from.remaining();
        // On a full disk those bytes are written that the file has already, and of others none.
        int room = full ? Math.clamp(file.bytes() - at, 0, count) : count;
        int written = fails ? room / 2 : room;
        if (written > 0) {
          file.write(at, from.slice(from.position(), written));
        }
        if (fails || written < count) {
          throw noRoom();
        }
        from.position(from.limit());
      }
    }

    @Override
    public MemorySegment map() throws IOException {
      checkOpen();
      fail(step("map " + name));
      synchronized (FaultyDisk.this) {
        mappings++;
        return file.map();
      }
    }

    @Override
    public void force() throws IOException {
      checkOpen();
      boolean fails = step("force " + name) || forcesFail;
      synchronized (FaultyDisk.this) {
        if (fails) {
          file.loseForce();
        }
        failForce(fails);
        file.force();
      }
    }

    @Override
    public void close() {
      synchronized (FaultyDisk.this) {
        closed = true;
        file.unmap(mappings);
        mappings = 0;
      }
    }
  }
}
