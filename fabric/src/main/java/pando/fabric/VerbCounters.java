package pando.fabric;

/**
 * Counts of the verbs that one worker, or several together, have issued: exact, and independent of
 * the machine. Those that ended in an exception may be missing.
 *
 * <p>Only the owning worker writes them, without contention; other threads read recent values, not
 * a snapshot.
 */
public final class VerbCounters {
  /** One-sided READs. */
  public long reads;

  /** One-sided WRITEs. */
  public long writes;

  /** CAS and FAA of every kind. */
  public long atomics;

  /** Two-sided CALLs. */
  public long calls;

  /** Waits for a completion: a doorbell list, a scatter and a CALL count once each. */
  public long roundTrips;

  /** Payload bytes from memory servers: READs, values returned by atomics, CALL responses. */
  public long bytesIn;

  /** Payload bytes to memory servers: WRITEs, operands of atomics, CALL requests. */
  public long bytesOut;

  /** Creates counters that are all 0. */
  public VerbCounters() {}

  /** Counts a READ. */
  public void countRead(int bytes) {
    reads++;
    bytesIn += bytes;
  }

  /** Counts a WRITE. */
  public void countWrite(int bytes) {
    writes++;
    bytesOut += bytes;
  }

  /** Counts an atomic. */
  public void countAtomic(VerbList.Kind kind) {
    atomics++;
    bytesOut += kind.operandBytes();
    bytesIn += kind.resultBytes();
  }

  /** Counts verbs that were posted together, and their round trip. */
  public void countList(VerbList list) {
    for (int i = 0; i < list.size(); i++) {
      VerbList.Kind kind = list.kind(i);
      switch (kind) {
        case READ -> countRead(list.length(i));
        case WRITE -> countWrite(list.length(i));
        default -> countAtomic(kind);
      }
    }
    roundTrips++;
  }

  /** Counts a CALL. */
  public void countCall(int requestBytes, int responseBytes) {
    calls++;
    roundTrips++;
    bytesOut += requestBytes;
    bytesIn += responseBytes;
  }

  /** Adds another's counts to these. */
  public void add(VerbCounters other) {
    reads += other.reads;
    writes += other.writes;
    atomics += other.atomics;
    calls += other.calls;
    roundTrips += other.roundTrips;
    bytesIn += other.bytesIn;
    bytesOut += other.bytesOut;
  }

  /** Subtracts another's counts from these. */
  public void subtract(VerbCounters other) {
    reads -= other.reads;
    writes -= other.writes;
    atomics -= other.atomics;
    calls -= other.calls;
    roundTrips -= other.roundTrips;
    bytesIn -= other.bytesIn;
    bytesOut -= other.bytesOut;
  }

  /** Returns a copy of the current counts. */
  public VerbCounters copy() {
    VerbCounters copy = new VerbCounters();
    copy.add(this);
    return copy;
  }

  /** Returns the payload bytes both ways. */
  public long bytes() {
    return bytesIn + bytesOut;
  }

  @Override
  public String toString() {
    return "reads="
        + reads
        + ", writes="
        + writes
        + ", atomics="
        + atomics
        + ", calls="
        + calls
        + ", roundTrips="
        + roundTrips
        + ", bytesIn="
        + bytesIn
        + ", bytesOut="
        + bytesOut;
  }
}
