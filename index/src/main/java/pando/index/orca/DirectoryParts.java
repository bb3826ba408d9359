package pando.index.orca;

import java.util.BitSet;
import pando.index.orca.directory.Directory;
import pando.index.orca.parts.CacheParts;

/**
 * The parts that are set aside for the directory, so that it is counted in the cache. Its own
 * memory is elsewhere: that of a part that is set aside stays registered and is not used.
 */
final class DirectoryParts implements PartHolder {
  private final Directory directory;
  private final CacheParts parts;
  private final BitSet own = new BitSet();

  /** The bytes of its own parts. */
  private volatile long bytes;

  /** Creates a holder that has no part. */
  DirectoryParts(Directory directory, CacheParts parts) {
    this.directory = directory;
    this.parts = parts;
  }

  /** Returns how many parts the directory takes now. */
  long partsWanted() {
    return parts.partsFor(directory.bytes());
  }

  /** Returns whether the directory takes more than what is set aside. */
  boolean isShort() {
    return directory.bytes() > bytes;
  }

  /** Returns whether a part can be given back while another one that is not needed stays. */
  boolean isAmple() {
    return directory.bytes() <= bytes - 2 * parts.bytesOfPart();
  }

  /** Returns the bytes that are set aside. */
  long bytes() {
    return bytes;
  }

  @Override
  public synchronized boolean has(int part) {
    return own.get(part);
  }

  @Override
  public synchronized int next() {
    return own.length() - 1;
  }

  @Override
  public boolean release(int part) {
    set(part, false);
    return true;
  }

  @Override
  public void receive(int part) {
    set(part, true);
  }

  private synchronized void set(int part, boolean isOwn) {
    own.set(part, isOwn);
    bytes = own.cardinality() * parts.bytesOfPart();
  }
}
