package pando.fabric.shm;

import java.security.SecureRandom;
import pando.fabric.base.Owner;
import pando.fabric.memory.Closing;
import pando.fabric.memory.ProcessLock;
import pando.fabric.memory.SharedMemory;
import pando.fabric.server.HostedMemoryServer;
import pando.fabric.server.MemoryServer;
import pando.fabric.server.PoolMemory;
import pando.fabric.server.PoolOptions;

/**
 * A memory server in this process for compute servers in other processes, which find it by its
 * name. Runs until it is closed or the process ends; its nodes are lost then.
 */
public final class ShmMemoryServer extends HostedMemoryServer {
  private final String name;
  private final Registry registry;
  private final ProcessLock lock;
  private final SharedMemory memory;

  private ShmMemoryServer(
      String name, Registry registry, ProcessLock lock, SharedMemory memory, MemoryServer server) {
    super(server);
    this.name = name;
    this.registry = registry;
    this.lock = lock;
    this.memory = memory;
  }

  /**
   * Starts a memory server. All its memory is committed now.
   *
   * @param name name to publish it under: letters, digits, {@code _} and {@code -}
   * @param number its number in the fabric: its place, from 0, in the list of names that compute
   *     servers attach
   * @param options size of the pool, processor threads and handlers
   * @throws RegistryException if a memory server of that name runs already
   */
  public static ShmMemoryServer start(String name, int number, PoolOptions options) {
    PoolOptions.checkNumber(number);
    Registry registry = Registry.open();
    ProcessLock lock = registry.acquire(name);
    try {
      SharedMemory memory =
          SharedMemory.create("pando-" + name, MemoryServer.layout(options).bytes());
      try {
        return start(name, number, options, registry, lock, memory);
      } catch (RuntimeException | Error e) {
        memory.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      registry.release(name, lock);
      throw e;
    }
  }

  /** Returns the name it is published under. */
  @Override
  public String place() {
    return name;
  }

  @Override
  protected void end() {
    Closing.all(() -> registry.release(name, lock), server()::close, memory::close);
  }

  private static ShmMemoryServer start(
      String name,
      int number,
      PoolOptions options,
      Registry registry,
      ProcessLock lock,
      SharedMemory memory) {
    // Must differ from those of earlier memory servers, whatever their seeds were.
    long incarnation = new SecureRandom().nextLong();
    MemoryServer server =
        MemoryServer.start(
            number, incarnation, memory.segment(), options, PoolMemory.COMMITTED, false);
    try {
      registry.publish(
          name,
          new RegistryEntry(
              number,
              Owner.self(),
              memory.descriptor(),
              options.bytesPerServer(),
              options.chunkBytes(),
              incarnation));
      return new ShmMemoryServer(name, registry, lock, memory, server);
    } catch (RuntimeException | Error e) {
      server.close();
      throw e;
    }
  }
}
