package pando.bench.records;

/**
 * Keys that are any 64-bit words with the same probability; every word is some record's key.
 *
 * @param seed chooses them
 */
record ScatteredKeys(long seed) implements Keys {
  private static final long STEP = 0x9e3779b97f4a7c15L;

  @Override
  public long key(long record) {
    return Mix.mix(record + seed * STEP);
  }

  @Override
  public long record(long key) {
    return Mix.unmix(key) - seed * STEP;
  }
}
