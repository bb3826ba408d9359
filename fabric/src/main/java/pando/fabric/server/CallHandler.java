package pando.fabric.server;

import java.lang.foreign.MemorySegment;

/**
 * A service that a memory server's processor runs for CALLs. Called by several threads at once
 * where the memory server has more than one; must be thread-safe. A word that verbs change by
 * atomics must not be changed here by atomics as well: where a network card runs the former, they
 * do not exclude each other.
 */
public interface CallHandler {
  /** First function number that a handler may have; those below belong to the memory server. */
  int FIRST_FUNCTION = 16;

  /** Function numbers are below this. */
  int FUNCTIONS_MAX = 256;

  /** Returns the function number, {@link #FIRST_FUNCTION} to {@link #FUNCTIONS_MAX} - 1. */
  int function();

  /**
   * Serves one CALL. An exception is counted, reported to the caller as {@link
   * CallFailedException}, and does not stop the memory server.
   *
   * @param server number of this memory server
   * @param dram the memory server's DRAM; offset 0 is offset 0 of its global addresses
   * @param message holds the request and takes the response; a private copy that no client changes
   * @param requestBytes length of the request
   * @return length of the response in bytes
   */
  int handle(int server, MemorySegment dram, MemorySegment message, int requestBytes);
}
