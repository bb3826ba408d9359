package pando.sim.nic;

import pando.sim.ClusterModel;
import pando.sim.time.Simulation;

/** The model's constants in picoseconds. */
public final class Costs {
  /** See {@link ClusterModel#postNanos}. */
  public final long post;

  /** See {@link ClusterModel#postNextNanos}. */
  public final long postNext;

  /** See {@link ClusterModel#pollNanos}. */
  public final long poll;

  /** See {@link ClusterModel#doorbellNanos}. */
  public final long doorbell;

  final long message;
  final long ack;
  final double picosPerByte;
  final double headerBytes;
  final long wire;
  final long jitter;
  final long read;
  final long write;
  final long completion;
  final long atomicSuccess;
  final long atomicFailure;
  final long atomicExtra;
  final int atomicBuckets;
  final int parkedMax;
  final long onChip;
  final long onChipConflict;
  final long call;
  final long spaceCall;
  final long timeout;

  /** Converts a model. */
  public Costs(ClusterModel model) {
    post = picos(model.postNanos());
    postNext = picos(model.postNextNanos());
    poll = picos(model.pollNanos());
    doorbell = picos(model.doorbellNanos());
    message = picos(model.messageNanos());
    ack = picos(model.ackNanos());
    picosPerByte = Simulation.NANO / model.bytesPerNano();
    headerBytes = model.headerBytes();
    wire = picos(model.wireNanos());
    jitter = picos(model.jitterNanos());
    read = picos(model.readNanos());
    write = picos(model.writeNanos());
    completion = picos(model.completionNanos());
    atomicSuccess = picos(model.atomicSuccessNanos());
    atomicFailure = picos(model.atomicFailureNanos());
    atomicExtra = picos(model.atomicExtraNanos());
    atomicBuckets = (int) model.atomicBuckets();
    parkedMax = (int) model.parkedMax();
    onChip = picos(model.onChipNanos());
    onChipConflict = picos(model.onChipConflictNanos());
    call = picos(model.callNanos());
    spaceCall = picos(model.spaceCallNanos());
    timeout = picos(model.timeoutNanos());
  }

  /** Returns how long a card has to do with a message; it works while bytes come in. */
  long message(int payloadBytes) {
    return Math.max(message, (long) ((payloadBytes + headerBytes) * picosPerByte));
  }

  private static long picos(double nanos) {
    return Math.round(nanos * Simulation.NANO);
  }
}
