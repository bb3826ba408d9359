package pando.cluster;

/**
 * A memory server, as the pool knows it; it stays when the memory server goes.
 *
 * @param number its place among the memory servers
 * @param incarnation drawn at random when it started; another one has other memory
 * @param address where it listens, {@code HOST:PORT}
 * @param bytes for nodes
 * @param hasFolder whether it has a data folder
 */
public record PoolEntry(
    int number,
    long incarnation,
    String address,
    long bytes,
    boolean hasFolder,
    ServerState state) {
  static final char KIND = 'p';

  PoolEntry withState(ServerState changed) {
    return new PoolEntry(number, incarnation, address, bytes, hasFolder, changed);
  }

  byte[] encode() {
    return new EntryWriter(KIND)
        .number(number)
        .word(incarnation)
        .text(address)
        .word(bytes)
        .number(hasFolder ? 1 : 0)
        .text(state.name())
        .bytes();
  }

  static PoolEntry decode(byte[] bytes) {
    return EntryReader.read(
        bytes,
        KIND,
        reader ->
            new PoolEntry(
                reader.number(0, Member.NUMBER_MAX),
                reader.word(),
                reader.text(),
                reader.word(),
                reader.number(0, 1) != 0,
                ServerState.valueOf(reader.text())));
  }
}
