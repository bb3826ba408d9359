package pando.index.orca.space;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import pando.fabric.Fabric;
import pando.fabric.GlobalAddress;
import pando.fabric.PoolFullException;
import pando.fabric.Worker;
import pando.fabric.pool.NodeAllocator;
import pando.index.PoolPart;
import pando.index.orca.leaf.LeafLayout;
import pando.index.pool.KeptNodes;

/**
 * Allocates and frees extents, which are runs of units of 128 bytes, for the workers of one compute
 * server. A new extent holds arbitrary bytes.
 *
 * <p>Extents lie in regions of one size, which come from the memory servers as nodes do. An extent
 * is looked for at one memory server by next fit: from behind the last one on, in the next gap that
 * is long enough. After {@link #GAPS_MAX} gaps that are too short, a new region is taken instead,
 * so that the search stays short; where the memory server has no region left, all gaps are looked
 * at, and then those of the other memory servers. A region without extents is given back, but one
 * for each memory server is kept.
 *
 * <p>Thread-safe; no lock is held across a verb.
 */
public final class ExtentAllocator {
  private static final int UNIT_BYTES = LeafLayout.UNIT_BYTES;
  private static final int REGION_BYTES_MAX = 128 << 10;

  /** A leaf of the greatest size. */
  private static final int REGION_BYTES_MIN = 4 << 10;

  /** Greatest number of parts of a chunk. */
  private static final int PARTS_MAX = 64;

  /** Least number of regions of a chunk, unless they would be too small. */
  private static final int REGIONS_MIN = 4;

  private static final int GAPS_MAX = 48;

  /** Regions of a memory server that are searched for gaps before a new one is taken. */
  private static final int SEARCHED_MAX = 8;

  /** Looks for room after the memory servers were full, before they are asked for a new region. */
  private static final int PASSES = 256;

  private final int regionBytes;
  private final NodeAllocator nodes;
  private final RegionRing[] servers;

  /**
   * Units that the regions that are held have lost at the most, ever: by extents, by what beside
   * them is too short to count as a gap, and by regions that were given back.
   */
  private final AtomicLong lost = new AtomicLong();

  /** The same, and what extents that are being looked for are going to take. */
  private final AtomicLong lostSoon = new AtomicLong();

  /** How many they will have lost, at least, when the room that was counted last is used up. */
  private volatile long lostWhenFull;

  /** The least gap that was counted. */
  private volatile int gapCounted;

  /** How often room is looked for in all gaps before the memory servers are asked again. */
  private volatile int passesLeft;

  /**
   * Creates an allocator that holds nothing yet.
   *
   * @param memoryServers number of memory servers of the fabric
   * @param regionBytes size of a region, as {@link #regionBytes(int)} says
   */
  public ExtentAllocator(int memoryServers, int regionBytes) {
    if (Integer.bitCount(regionBytes) != 1
        || regionBytes < REGION_BYTES_MIN
        || regionBytes > REGION_BYTES_MAX) {
      throw new IllegalArgumentException(
          "no such region size: regionBytes="
              + regionBytes
              + ", minimum="
              + REGION_BYTES_MIN
              + ", maximum="
              + REGION_BYTES_MAX);
    }
    this.regionBytes = regionBytes;
    this.nodes = new NodeAllocator(memoryServers, regionBytes);
    this.servers = new RegionRing[memoryServers];
    for (int server = 0; server < memoryServers; server++) {
      servers[server] = new RegionRing(server, regionBytes);
    }
  }

  /**
   * Returns the size of regions in a pool: the greatest power of two, up to 128 KiB, of which each
   * chunk, and each part of a chunk that is not smaller, has a whole number. So regions start at
   * multiples of it behind the catalogue, and an address gives its region. Small chunks have
   * smaller regions, so that compute servers with few extents need little of a small pool.
   *
   * @param chunkBytes size of the pool's chunks
   * @throws IllegalArgumentException if that is less than 4 KiB
   */
  public static int regionBytes(int chunkBytes) {
    int partBytes = chunkBytes / PARTS_MAX;
    int few = Math.max(REGION_BYTES_MIN, Integer.highestOneBit(chunkBytes) / REGIONS_MIN);
    int most = Math.min(REGION_BYTES_MAX, Integer.lowestOneBit(chunkBytes));
    int bytes = Math.min(few, most);
    while (bytes >= REGION_BYTES_MIN && bytes <= partBytes && partBytes % bytes != 0) {
      bytes /= 2;
    }
    if (bytes < REGION_BYTES_MIN) {
      throw new IllegalArgumentException(
          "chunks cannot be divided into regions of a power of two: chunkBytes="
              + chunkBytes
              + ", regionBytesMin="
              + REGION_BYTES_MIN
              + ", regionBytesMax="
              + REGION_BYTES_MAX);
    }
    return bytes;
  }

  /**
   * Allocates an extent.
   *
   * @param worker issues the CALLs
   * @param message local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that CALLs
   *     may overwrite
   * @param preferredServer memory server to use as long as it has room
   * @param units number of units, at most those of a region
   * @param alignUnits the extent's offset in DRAM is a multiple of so many units: 1, 2, 4 or 8
   * @return the global address
   * @throws PoolFullException if no memory server has room
   */
  public long allocate(
      Worker worker, long message, int preferredServer, int units, int alignUnits) {
    checkRequest(preferredServer, units, alignUnits);
    long loss = units + 2L * gapCounted;
    lostSoon.addAndGet(loss);
    try {
      return take(worker, message, preferredServer, units, alignUnits);
    } finally {
      lost.addAndGet(loss);
    }
  }

  private long take(Worker worker, long message, int preferredServer, int units, int alignUnits) {
    int server = preferredServer;
    for (int i = 0; i < servers.length; i++) {
      server = (preferredServer + i) % servers.length;
      boolean full = servers[server].passBy();
      long address =
          full
              ? servers[server].takeBest(units, alignUnits)
              : servers[server].take(units, alignUnits, GAPS_MAX);
      if (address != RegionRing.NONE) {
        return address;
      }
      if (!full) {
        break;
      }
    }
    return takeNew(worker, message, server, units, alignUnits);
  }

  /** Takes a new region; where there is none, any gap that is left. */
  private long takeNew(Worker worker, long message, int server, int units, int alignUnits) {
    long region;
    try {
      region = nodes.allocate(worker, message, server);
    } catch (PoolFullException full) {
      return takeAnywhere(server, units, alignUnits, full);
    }
    int found = GlobalAddress.server(region);
    for (int passed = server; passed != found; passed = (passed + 1) % servers.length) {
      servers[passed].noteFull();
    }
    return servers[found].takeFirst(GlobalAddress.offset(region), units);
  }

  private long takeAnywhere(int preferred, int units, int alignUnits, PoolFullException full) {
    for (int i = 0; i < servers.length; i++) {
      RegionRing server = servers[(preferred + i) % servers.length];
      server.noteFull();
      long address = server.takeBest(units, alignUnits);
      if (address != RegionRing.NONE) {
        return address;
      }
    }
    throw full;
  }

  /**
   * Makes sure that there is room for extents to come: gaps of a least length that have so many
   * units together. Takes new regions where they have not. Nothing is set aside: the caller is to
   * allocate nothing but what it asks for here.
   *
   * @param worker issues the CALLs
   * @param message local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that CALLs
   *     may overwrite
   * @param preferredServer memory server to use as long as it has room
   * @param units number of units of all these gaps
   * @param leastGap number of units of the shortest gap that counts, always the same
   * @throws PoolFullException if the memory servers have no room for it
   */
  public void ensureRoom(
      Worker worker, long message, int preferredServer, int units, int leastGap) {
    checkRequest(preferredServer, leastGap, 1);
    int passes = passesLeft;
    passesLeft = Math.max(0, passes - 1);
    while (!hasRoom(units, leastGap, passes > 0 ? Integer.MAX_VALUE : SEARCHED_MAX)) {
      long region;
      try {
        region = nodes.allocate(worker, message, preferredServer);
      } catch (PoolFullException full) {
        passesLeft = PASSES;
        if (hasRoom(units, leastGap)) {
          return;
        }
        throw full;
      }
      servers[GlobalAddress.server(region)].addEmpty(GlobalAddress.offset(region));
    }
  }

  /** Returns whether there is room in the regions that are held already, as {@link #ensureRoom}. */
  public boolean hasRoom(int units, int leastGap) {
    return hasRoom(units, leastGap, Integer.MAX_VALUE);
  }

  /** Counts only where it is not sure that what was counted last is enough. */
  private boolean hasRoom(int units, int leastGap, int regionsMax) {
    if (leastGap == gapCounted && lostSoon.get() + units <= lostWhenFull) {
      return true;
    }
    gapCounted = leastGap;
    // What an extent that is being looked for is going to take may be counted: its loss is to come.
    long before = lost.get();
    int room = room(leastGap, (int) Math.min(2L * units, Integer.MAX_VALUE), regionsMax);
    lostWhenFull = before + room;
    return units <= room;
  }

  /**
   * Counts the units of empty regions and of gaps of a least length, or so many that are enough.
   */
  int room(int leastGap, int enough, int regionsMax) {
    int room = 0;
    for (RegionRing server : servers) {
      room += server.unitsEmpty();
    }
    for (int i = 0; i < servers.length && room < enough; i++) {
      room += servers[i].unitsInGaps(leastGap, enough - room, regionsMax);
    }
    return room;
  }

  /**
   * Frees an extent that was allocated or claimed here. No worker may use it any more.
   *
   * @param worker issues the CALLs
   * @param message local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that CALLs
   *     may overwrite
   * @param address global address of the extent
   * @param units number of its units
   * @throws IllegalStateException if not all of its units are in use; then nothing is freed
   */
  public void free(Worker worker, long message, long address, int units) {
    checkExtent(address, units);
    int server = GlobalAddress.server(address);
    long region = servers[server].free(GlobalAddress.offset(address), units);
    if (region != RegionRing.NONE) {
      giveBack(worker, message, server, region);
    }
  }

  private void giveBack(Worker worker, long message, int server, long region) {
    lose(regionBytes / UNIT_BYTES);
    nodes.free(worker, message, GlobalAddress.of(server, region));
  }

  private void lose(long units) {
    lostSoon.addAndGet(units);
    lost.addAndGet(units);
  }

  /**
   * Takes over an extent that a former owner allocated, and with the first one in a region that
   * region. The regions must have had the same size there.
   *
   * @param address global address of the extent
   * @param units number of its units
   * @throws IllegalStateException if some of its units are in use; then nothing is claimed
   */
  public void claim(long address, int units) {
    checkExtent(address, units);
    servers[GlobalAddress.server(address)].claim(GlobalAddress.offset(address), units);
    lose(units + 2L * gapCounted);
  }

  /** Returns whether an address lies in one of its regions. */
  public boolean holds(long address) {
    return servers[GlobalAddress.server(address)].has(GlobalAddress.offset(address));
  }

  /**
   * Takes over all regions of another allocator for the same memory servers, which has none
   * afterwards. {@link #trim} that one before, as it keeps what was given out to it and is in no
   * region.
   */
  public void absorb(ExtentAllocator other) {
    for (int server = 0; server < servers.length; server++) {
      servers[server].addAll(other.servers[server].forgetAll());
    }
  }

  /** Forgets all regions: their extents are another compute server's from now on. */
  public void forgetAll() {
    for (RegionRing server : servers) {
      server.forgetAll();
    }
  }

  /**
   * Gives all that is not in use back to the memory servers.
   *
   * @param worker issues the CALLs
   * @param message local offset, a multiple of 8, of {@link Worker#CALL_BYTES_MAX} bytes that CALLs
   *     may overwrite
   */
  public void trim(Worker worker, long message) {
    for (int server = 0; server < servers.length; server++) {
      for (long region = servers[server].removeEmpty();
          region != RegionRing.NONE;
          region = servers[server].removeEmpty()) {
        giveBack(worker, message, server, region);
      }
    }
    nodes.trim(worker, message);
  }

  /** Returns the bytes of all extents that were allocated or claimed and not freed. */
  public long bytesInUse() {
    long units = 0;
    for (RegionRing server : servers) {
      units += server.unitsInUse();
    }
    return units * UNIT_BYTES;
  }

  /** Returns the bytes of the regions that extents are in, or that are kept for new ones. */
  public long bytesHeld() {
    long regions = 0;
    for (RegionRing server : servers) {
      regions += server.regions();
    }
    return regions * regionBytes;
  }

  /** Returns what is kept here for later. */
  public List<PoolPart> kept() {
    List<PoolPart> parts = new ArrayList<>(KeptNodes.of(nodes));
    parts.add(new PoolPart("between extents", bytesHeld() - bytesInUse()));
    return parts;
  }

  private void checkRequest(int preferredServer, int units, int alignUnits) {
    if (preferredServer < 0 || preferredServer >= servers.length) {
      throw new IllegalArgumentException(
          "no such memory server: server=" + preferredServer + ", memoryServers=" + servers.length);
    }
    if (units < 1
        || units > regionBytes / UNIT_BYTES
        || Integer.bitCount(alignUnits) != 1
        || alignUnits > RegionRing.ALIGN_UNITS_MAX) {
      throw new IllegalArgumentException(
          "no such extent: units="
              + units
              + ", alignUnits="
              + alignUnits
              + ", regionBytes="
              + regionBytes);
    }
  }

  private void checkExtent(long address, int units) {
    long offset = GlobalAddress.offset(address) - Fabric.CATALOGUE_BYTES;
    if (GlobalAddress.isSwizzled(address)
        || GlobalAddress.isOnChip(address)
        || GlobalAddress.server(address) >= servers.length
        || offset < 0
        || offset % UNIT_BYTES != 0
        || units < 1
        || offset % regionBytes + (long) units * UNIT_BYTES > regionBytes) {
      throw new IllegalArgumentException(
          "no extent can lie there: address="
              + GlobalAddress.toString(address)
              + ", units="
              + units
              + ", memoryServers="
              + servers.length
              + ", regionBytes="
              + regionBytes);
    }
  }
}
