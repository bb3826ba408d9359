package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.PoolUsage;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.Closing;
import pando.fabric.memory.Words;

/**
 * One memory server over memory that the caller provides and frees. Its processor threads run from
 * {@link #start} until {@link #close()}; only CALLs need them.
 */
public final class MemoryServer implements AutoCloseable {
  private static final Duration JOIN_MAX = Duration.ofSeconds(5);

  private final int number;
  private final ServerLayout layout;
  private final ChunkTable table;
  private final Services services;
  private final CallWaiters waiters = new CallWaiters();
  private final List<Processor> processors = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();

  /** Returns the layout of a memory server's memory. */
  @SuppressWarnings("exports") // For the fabrics that make memory servers.
  public static ServerLayout layout(PoolOptions options) {
    return new ServerLayout(options.bytesPerServer(), options.chunkBytes());
  }

  private MemoryServer(
      int number,
      MemorySegment dram,
      ServerLayout layout,
      ChunkTable table,
      List<CallHandler> handlers) {
    this.number = number;
    this.layout = layout;
    this.table = table;
    this.services = new Services(number, dram, new SpaceService(table), handlers);
  }

  /**
   * Starts a memory server.
   *
   * @param number number of this memory server in its fabric
   * @param incarnation differs each time a memory server starts
   * @param segment zeroed memory as the {@link #layout} has it
   * @param options size of the pool, processor threads and handlers
   * @param memory what is behind the segment
   * @param isWoken whether {@link #wake} is called after each CALL was posted; else its threads
   *     look for CALLs now and then
   */
  public static MemoryServer start(
      int number,
      long incarnation,
      MemorySegment segment,
      PoolOptions options,
      PoolMemory memory,
      boolean isWoken) {
    MemoryServer server = unattended(number, segment, options, memory);
    MemorySegment mailbox = segment.asSlice(server.layout.mailboxOffset(), MailboxLayout.BYTES);
    writeHeader(mailbox, number, incarnation, server.layout);
    try {
      server.startProcessors(new Mailbox(mailbox), options.processorThreads(), isWoken);
      return server;
    } catch (RuntimeException | Error e) {
      // The system may refuse so many threads.
      server.close();
      throw e;
    }
  }

  /**
   * Makes a memory server without processor threads, whose CALLs the caller hands to {@link
   * #serve}.
   *
   * @param number number of this memory server in its fabric
   * @param segment zeroed memory as the {@link #layout} has it
   * @param options size of the pool, and handlers
   * @param memory what is behind the segment
   */
  public static MemoryServer unattended(
      int number, MemorySegment segment, PoolOptions options, PoolMemory memory) {
    ServerLayout layout = layout(options);
    MemorySegment dram = dram(segment, layout);
    ChunkTable table = new ChunkTable(layout, dram, memory);
    return new MemoryServer(number, dram, layout, table, options.handlers());
  }

  /**
   * Makes a memory server without processor threads, with a copy of this one's state.
   *
   * @param segment a copy of this one's memory
   */
  public MemoryServer fork(MemorySegment segment) {
    MemorySegment dram = dram(segment, layout);
    return new MemoryServer(number, dram, layout, table.copy(dram), services.handlers());
  }

  /**
   * Makes a memory server without processor threads that replaces this one; all its chunks are
   * free.
   *
   * @param segment zeroed memory, as large as this one's
   */
  public MemoryServer anew(MemorySegment segment) {
    MemorySegment dram = dram(segment, layout);
    return new MemoryServer(number, dram, layout, table.anew(dram), services.handlers());
  }

  private static MemorySegment dram(MemorySegment segment, ServerLayout layout) {
    return segment.asSlice(0, layout.dramBytes());
  }

  /**
   * Serves one CALL in the calling thread.
   *
   * @param message holds the request and takes the response
   * @return length of the response in bytes
   * @throws CallFailedException if the request is refused, or its handler threw
   */
  public int serve(int function, MemorySegment message, int requestBytes) {
    try {
      return services.serve(function, message, requestBytes);
    } catch (IllegalArgumentException refused) {
      throw CallFailedException.of(number, function, String.valueOf(refused.getMessage()));
    }
  }

  /** Returns how much work a CALL was that was served, as {@link CallHandler#workUnits}. */
  public int workUnits(int function, int requestBytes, int responseBytes) {
    return services.workUnits(function, requestBytes, responseBytes);
  }

  /** Returns the number of this memory server. */
  public int number() {
    return number;
  }

  /** Returns the use of the pool. */
  public PoolUsage usage() {
    return table.usage();
  }

  /** Returns the number of CALLs answered. */
  public long callsServed() {
    return services.served();
  }

  /** Returns the number of CALLs refused, and of those whose handler threw. */
  public long callsFailed() {
    return services.failed();
  }

  /** Returns the threads of this process that wait for answers. */
  public CallWaiters waiters() {
    return waiters;
  }

  /** Wakes a processor thread that rests, if one does. */
  public void wake() {
    for (Processor processor : processors) {
      if (processor.wake()) {
        return;
      }
    }
  }

  /**
   * Stops the processor threads. Stops waiting after a while for a handler that does not return.
   */
  @Override
  public void close() {
    processors.forEach(Processor::stop);
    for (Thread thread : threads) {
      boolean _ = Closing.join(thread, JOIN_MAX);
    }
  }

  private static void writeHeader(
      MemorySegment mailbox, int number, long incarnation, ServerLayout layout) {
    Words.set(mailbox, MailboxLayout.INCARNATION_OFFSET, incarnation);
    Words.set(mailbox, MailboxLayout.SERVER_OFFSET, number);
    Words.set(mailbox, MailboxLayout.DRAM_BYTES_OFFSET, layout.dramBytes());
    Words.set(mailbox, MailboxLayout.CHUNK_BYTES_OFFSET, layout.chunkBytes());
    Words.setRelease(mailbox, MailboxLayout.MAGIC_OFFSET, MailboxLayout.MAGIC);
  }

  private void startProcessors(Mailbox mailbox, int threadCount, boolean isWoken) {
    for (int i = 0; i < threadCount; i++) {
      Processor processor = new Processor(mailbox, services, waiters, i, isWoken);
      processors.add(processor);
      threads.add(
          Thread.ofPlatform()
              .name("pando-memory-server-" + number + "-processor-" + i)
              .daemon()
              .start(processor));
    }
  }
}
