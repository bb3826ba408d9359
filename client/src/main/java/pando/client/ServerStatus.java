package pando.client;

/**
 * The state of a compute server.
 *
 * @param address at which it was asked
 * @param system of its index, such as {@code dex}
 * @param epoch of its routes
 * @param connections of clients now
 * @param answered operations and pages of scans since it started
 * @param failed those among them that failed, belonged to others, or are of unknown outcome
 */
public record ServerStatus(
    String address, String system, long epoch, long connections, long answered, long failed) {}
