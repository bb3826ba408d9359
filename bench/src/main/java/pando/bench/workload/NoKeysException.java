package pando.bench.workload;

import pando.fabric.PandoException;

/** The partition of a client has no keys, or hardly any. */
public final class NoKeysException extends PandoException {
  private static final long serialVersionUID = 1L;

  NoKeysException(WorkloadOperation operation, int client, int draws) {
    super(
        "a client's partition has hardly any keys: operation="
            + operation
            + ", client="
            + client
            + ", draws="
            + draws
            + "; load more records, which partitions are made by, or take one compute server");
  }
}
