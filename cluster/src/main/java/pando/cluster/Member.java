package pando.cluster;

import pando.index.Unwritten;

/**
 * A server that runs.
 *
 * @param number its number among servers of its kind
 * @param epoch of a compute server, which start of its number this is; of a memory server, its
 *     incarnation
 * @param address where it listens, {@code HOST:PORT}; empty if nowhere
 * @param process id of its process
 * @param machine name of its machine
 * @param entries about how many entries its range has
 * @param unwritten what it had acknowledged and not written to the pool, when this was written:
 *     some seconds ago, or nothing has changed much since
 */
public record Member(
    int number,
    long epoch,
    String address,
    long process,
    String machine,
    ServerState state,
    long entries,
    Unwritten unwritten) {
  static final char KIND = 'm';
  static final int NUMBER_MAX = 63;

  Member withState(ServerState changed) {
    return new Member(number, epoch, address, process, machine, changed, entries, unwritten);
  }

  Member serving(String clients, long about, Unwritten now) {
    return new Member(number, epoch, clients, process, machine, ServerState.SERVING, about, now);
  }

  /** Returns whether it takes part in changes. */
  public boolean isServing() {
    return state == ServerState.SERVING;
  }

  /** Returns whether it runs on a machine with the name of this one. */
  public boolean isHere() {
    return machine.equals(Machine.NAME);
  }

  byte[] encode() {
    return new EntryWriter(KIND)
        .number(number)
        .word(epoch)
        .text(address)
        .word(process)
        .text(machine)
        .text(state.name())
        .word(entries)
        .word(unwritten.bytes())
        .word(unwritten.nanosMax())
        .bytes();
  }

  static Member decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader ->
            new Member(
                reader.number(0, NUMBER_MAX),
                reader.word(),
                reader.text(),
                reader.word(),
                reader.text(),
                ServerState.valueOf(reader.text()),
                reader.word(),
                new Unwritten(reader.word(), reader.word())));
  }
}
