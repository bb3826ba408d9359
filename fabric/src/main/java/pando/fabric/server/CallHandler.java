package pando.fabric.server;

import java.lang.foreign.MemorySegment;

/**
 * A service that a memory server's processor runs for CALLs. Called by several threads at once
 * where the memory server has more than one; must be thread-safe. A handler must not change a word
 * by atomics that verbs change by atomics, too: the atomics of a network card and those of a
 * processor do not exclude each other.
 */
public interface CallHandler {
  /** Least function number of a handler; lower ones belong to the memory server. */
  int FIRST_FUNCTION = 16;

  /** Upper bound, exclusive, of function numbers. */
  int FUNCTIONS_MAX = 256;

  /** Returns the function number, {@link #FIRST_FUNCTION} to {@link #FUNCTIONS_MAX} - 1. */
  int function();

  /**
   * Serves one CALL. An exception is counted, reported to the caller as {@link
   * CallFailedException}, and does not stop the memory server.
   *
   * @param server number of this memory server
   * @param dram the memory server's DRAM; offset 0 is offset 0 of its global addresses
   * @param message buffer that holds the request and receives the response; a private copy that no
   *     client changes
   * @param requestBytes length of the request
   * @return length of the response in bytes
   */
  int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes);

  /**
   * Returns how much work a CALL was beyond that of one that touches one entry, in entries that
   * were copied. For a simulator, which charges time for it. Default: none.
   *
   * @param requestBytes length of the request
   * @param responseBytes length of the response
   */
  default int workUnits(int requestBytes, int responseBytes) {
    return 0;
  }
}
