package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import pando.fabric.tcp.TcpMemoryServer;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.wire.CardAccess;

/**
 * A memory server's card, with which its DRAM and on-chip region are registered. Each client has a
 * queue pair, whose verbs the card serves, and whose CALLs threads of the memory server.
 * Thread-safe.
 */
final class MemoryCard implements CardAccess {
  private static final System.Logger LOG = System.getLogger("pando.fabric.verbs");

  private final SecureRandom packets = new SecureRandom();
  private final Device device;
  private final Region region;
  private final SharedReceives receives;
  private final List<CallProcessor> processors = new ArrayList<>();
  private final Set<ClientWay> ways = ConcurrentHashMap.newKeySet();

  /** Gives everything back, what was made last first. */
  private final List<Runnable> ends = new ArrayList<>();

  private volatile boolean isClosed;

  /**
   * Opens a card.
   *
   * @param memory that verbs may reach: DRAM, and behind it the on-chip region
   * @param processorThreads that serve CALLs, at least 1
   * @throws VerbsException if the card cannot be used, or refuses the memory
   */
  MemoryCard(String name, MemorySegment memory, int processorThreads) {
    try {
      device = Device.open(name);
      ends.addFirst(device::close);
      region = device.register(memory, IbvMr.ALL_ACCESS);
      ends.addFirst(region::close);
      receives = new SharedReceives(device);
      ends.addFirst(receives::close);
      int waysMax = TcpMemoryServer.CONNECTIONS_MAX / processorThreads + 1;
      for (int i = 0; i < processorThreads; i++) {
        CallProcessor processor = new CallProcessor(device, receives, waysMax);
        processors.add(processor);
        ends.addFirst(processor::close);
      }
    } catch (RuntimeException | Error e) {
      free();
      throw e;
    }
  }

  @Override
  public void start(Calls calls) {
    for (int i = 0; i < processors.size(); i++) {
      processors.get(i).start("pando-card-" + device.name() + "-processor-" + i, calls);
    }
  }

  @Override
  public synchronized Way open() {
    if (isClosed) {
      throw closed();
    }
    CallProcessor processor =
        Collections.min(processors, Comparator.comparingInt(CallProcessor::ways));
    ClientWay way = new ClientWay(this, processor);
    processor.addWays(1);
    ways.add(way);
    return way;
  }

  Device device() {
    return device;
  }

  /** Returns the offer to a client, which has been given a queue pair. */
  Offer offer(Endpoint endpoint) {
    return new Offer(endpoint, region.place());
  }

  /** Makes a queue pair, of which the caller holds the way. */
  QueuePair newQueuePair(CallProcessor processor) {
    if (isClosed) {
      throw closed();
    }
    return new QueuePair(
        device,
        processor.completions(),
        ClientWay.ANSWERS_MAX,
        packets.nextInt(),
        receives.address());
  }

  private static IllegalArgumentException closed() {
    return new IllegalArgumentException("the memory server is closed");
  }

  /** Removes a way that is closed. */
  void forget(ClientWay way) {
    ways.remove(way);
  }

  /** Ends the queue pairs of all clients, which may ask for others. */
  void disconnect() {
    ways.forEach(ClientWay::end);
  }

  /** Also ends the ways that are open. Leaves what a CALL still uses that does not end. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    // A queue pair that is made meanwhile is of a way that is known, and refused or found here.
    disconnect();
    processors.forEach(CallProcessor::stop);
    boolean ended = true;
    for (CallProcessor processor : processors) {
      ended &= processor.join();
    }
    if (ended) {
      ways.forEach(ClientWay::free);
      free();
    } else {
      region.close();
      LOG.log(System.Logger.Level.WARNING, "a CALL does not end: card=" + device.name());
    }
  }

  /** In order, and none if one before it failed: a card's parts must not outlive it. */
  private void free() {
    ends.forEach(Runnable::run);
  }
}
