package pando.fabric.shm;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import pando.fabric.Fabric;
import pando.fabric.base.Owner;
import pando.fabric.layout.MailboxLayout;
import pando.fabric.layout.ServerLayout;
import pando.fabric.mapped.MappedFabric;
import pando.fabric.mapped.MemoryServerLink;
import pando.fabric.memory.Closing;
import pando.fabric.memory.SharedMemory;
import pando.fabric.memory.Words;
import pando.fabric.server.PoolOptions;

/** Connects a compute server to memory servers of the same user on the same machine. */
public final class ShmFabric {
  private final Registry registry = Registry.open();
  private final LossMonitor monitor = new LossMonitor(registry);
  private final List<SharedMemory> memories = new ArrayList<>();
  private final List<MemoryServerLink> links = new ArrayList<>();

  private ShmFabric() {}

  /**
   * Connects to running memory servers. The death of one is detected within a second: verbs and
   * waiting CALLs to it then throw {@link pando.fabric.MemoryServerLostException}.
   *
   * @param names the memory servers, in the order of their numbers
   * @param seed start of all randomness in the fabric
   * @throws RegistryException if one does not run or has another number
   */
  public static Fabric attach(List<String> names, long seed) {
    if (names.isEmpty() || names.size() > PoolOptions.MEMORY_SERVERS_MAX) {
      throw new IllegalArgumentException(
          "invalid number of memory servers: count="
              + names.size()
              + ", maximum="
              + PoolOptions.MEMORY_SERVERS_MAX);
    }
    ShmFabric shm = new ShmFabric();
    try {
      for (String name : names) {
        shm.attach(name);
      }
      shm.monitor.start();
      return new MappedFabric("shm", shm.links, seed, null, null, true, shm::end);
    } catch (RuntimeException | Error e) {
      shm.end();
      throw e;
    }
  }

  private void attach(String name) {
    RegistryEntry entry = registry.find(name);
    int number = links.size();
    if (entry.number() != number) {
      throw new RegistryException(
          "memory server at the wrong place: name="
              + name
              + ", place="
              + number
              + ", number="
              + entry.number());
    }
    ServerLayout layout = entry.layout();
    SharedMemory memory =
        SharedMemory.attach(Owner.pid(entry.owner()), entry.descriptor(), layout.bytes());
    memories.add(memory);
    checkHeader(name, memory.segment(), layout, entry);
    MemoryServerLink link = new MemoryServerLink(number, memory.segment(), layout, null);
    links.add(link);
    monitor.watch(name, entry.owner(), link);
  }

  /** Checks that the memory is that of the entry, as its process id may have been reused. */
  private static void checkHeader(
      String name, MemorySegment segment, ServerLayout layout, RegistryEntry entry) {
    MemorySegment mailbox = segment.asSlice(layout.mailboxOffset(), MailboxLayout.BYTES);
    boolean matches =
        Words.getAcquire(mailbox, MailboxLayout.MAGIC_OFFSET) == MailboxLayout.MAGIC
            && Words.get(mailbox, MailboxLayout.INCARNATION_OFFSET) == entry.incarnation()
            && Words.get(mailbox, MailboxLayout.SERVER_OFFSET) == entry.number()
            && Words.get(mailbox, MailboxLayout.DRAM_BYTES_OFFSET) == layout.dramBytes()
            && Words.get(mailbox, MailboxLayout.CHUNK_BYTES_OFFSET) == layout.chunkBytes();
    if (!matches) {
      throw new RegistryException("not the memory of the entry: name=" + name + ", " + entry);
    }
  }

  private void end() {
    monitor.stop();
    Closing.all(memories.stream().<Runnable>map(memory -> memory::close).toList());
  }
}
