package pando.cluster;

/**
 * What stands at a path.
 *
 * @param bytes not to be changed
 * @param version 0 for a new entry, one more with each change
 */
@SuppressWarnings("ArrayRecordComponent") // Never compared.
public record Entry(byte[] bytes, int version) {}
