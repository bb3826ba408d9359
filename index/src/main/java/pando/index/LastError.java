package pando.index;

/**
 * An error that somebody got.
 *
 * @param what its kind, and of what it was the answer; no key, no value
 * @param millis when, in milliseconds since 1970
 */
public record LastError(String what, long millis) {}
