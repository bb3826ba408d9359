package pando.fabric.verbs;

import java.util.List;
import java.util.OptionalLong;

/** The RDMA cards of this machine. Thread-safe. */
public final class Cards {
  private Cards() {}

  /**
   * What a card is, and what it can do.
   *
   * @param name by which it is opened
   * @param firmware version of its firmware, as it says
   * @param address of its port: an IP address, or on InfiniBand the LID
   * @param mtuBytes largest packet of its port
   * @param queuePairs that it has, at most; each worker or lane takes one for each memory server
   * @param regions of memory that can be registered at a time
   * @param readsUnderWay READs and atomics that a queue pair has under way, at most
   */
  public record Description(
      String name,
      String firmware,
      String address,
      int mtuBytes,
      int queuePairs,
      int regions,
      int readsUnderWay) {}

  /**
   * A part of the self-test.
   *
   * @param what was tried
   * @param works whether the card did it as it should
   * @param found what was found
   */
  public record Finding(String what, boolean works, String found) {}

  /**
   * Returns their names.
   *
   * @throws VerbsException if the library is not installed
   */
  public static List<String> names() {
    return Device.names();
  }

  /**
   * Returns what a card can do.
   *
   * @throws VerbsException if there is none of this name, or it cannot be used
   */
  public static Description describe(String name) {
    try (Device device = Device.open(name)) {
      return device.describe();
    }
  }

  /**
   * Connects a card to itself, tries every verb, and times those that matter most.
   *
   * @throws VerbsException if there is none of this name, or it cannot be used
   */
  public static List<Finding> test(String name) {
    try (Device device = Device.open(name)) {
      return SelfTest.run(device);
    }
  }

  /**
   * Returns how many bytes this process may lock in memory, as everything is that cards reach;
   * empty if there is no limit.
   */
  public static OptionalLong lockedBytesMax() {
    return MemoryLock.limit();
  }
}
