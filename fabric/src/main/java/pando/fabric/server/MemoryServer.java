package pando.fabric.server;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import pando.fabric.PoolUsage;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.Words;

/**
 * One memory server over memory that somebody else provides and takes back. Its processor threads
 * run from {@link #start} until {@link #close()}. Verbs do without them.
 */
public final class MemoryServer implements AutoCloseable {
  private static final long JOIN_MILLIS_MAX = 5_000;

  private final int number;
  private final MemorySegment dram;
  private final ChunkTable table;
  private final @Nullable CallHandler[] handlers = new CallHandler[CallHandler.FUNCTIONS_MAX];
  private final LongAdder served = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final List<Processor> processors = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();

  /** Returns the bytes of memory that a memory server needs. */
  public static long segmentBytes(PoolOptions options) {
    return layout(options).bytes();
  }

  private MemoryServer(int number, MemorySegment dram, ServerLayout layout, PoolOptions options) {
    this.number = number;
    this.dram = dram;
    this.table = new ChunkTable(layout);
    for (CallHandler handler : options.handlers()) {
      handlers[handler.function()] = handler;
    }
  }

  /**
   * Starts a memory server.
   *
   * @param number number of this memory server in its fabric
   * @param incarnation differs each time a memory server starts
   * @param segment {@link #segmentBytes} of zeroed memory
   * @param options size of the pool, processor threads and handlers
   */
  public static MemoryServer start(
      int number, long incarnation, MemorySegment segment, PoolOptions options) {
    ServerLayout layout = layout(options);
    MemorySegment dram = segment.asSlice(0, layout.dramBytes());
    MemorySegment mailbox = segment.asSlice(layout.mailboxOffset(), MailboxLayout.BYTES);
    writeHeader(mailbox, number, incarnation, layout);
    MemoryServer server = new MemoryServer(number, dram, layout, options);
    server.startProcessors(new Mailbox(mailbox), options.processorThreads());
    return server;
  }

  /** Returns the number of this memory server. */
  public int number() {
    return number;
  }

  /** Returns how much of the pool is taken. */
  public PoolUsage usage() {
    return table.usage();
  }

  /** Returns the number of CALLs answered. */
  public long callsServed() {
    return served.sum();
  }

  /** Returns the number of CALLs refused, and of those whose handler threw. */
  public long callsFailed() {
    return failed.sum();
  }

  /** Stops the processor threads. A handler that does not return is left behind after a while. */
  @Override
  public void close() {
    processors.forEach(Processor::stop);
    boolean interrupted = false;
    for (Thread thread : threads) {
      try {
        thread.join(JOIN_MILLIS_MAX);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  MemorySegment dram() {
    return dram;
  }

  @Nullable CallHandler[] handlers() {
    return handlers;
  }

  LongAdder served() {
    return served;
  }

  LongAdder failed() {
    return failed;
  }

  private static ServerLayout layout(PoolOptions options) {
    return new ServerLayout(options.bytesPerServer(), options.chunkBytes());
  }

  private static void writeHeader(
      MemorySegment mailbox, int number, long incarnation, ServerLayout layout) {
    Words.set(mailbox, MailboxLayout.INCARNATION_OFFSET, incarnation);
    Words.set(mailbox, MailboxLayout.SERVER_OFFSET, number);
    Words.set(mailbox, MailboxLayout.DRAM_BYTES_OFFSET, layout.dramBytes());
    Words.set(mailbox, MailboxLayout.CHUNK_BYTES_OFFSET, layout.chunkBytes());
    Words.setRelease(mailbox, MailboxLayout.MAGIC_OFFSET, MailboxLayout.MAGIC);
  }

  private void startProcessors(Mailbox mailbox, int threadCount) {
    SpaceService space = new SpaceService(table);
    for (int i = 0; i < threadCount; i++) {
      Processor processor = new Processor(this, mailbox, space, i);
      processors.add(processor);
      threads.add(
          Thread.ofPlatform()
              .name("pando-memory-server-" + number + "-processor-" + i)
              .daemon()
              .start(processor));
    }
  }
}
