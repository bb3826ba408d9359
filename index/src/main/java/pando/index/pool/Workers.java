package pando.index.pool;

import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/** Opens workers. */
public final class Workers {
  private Workers() {}

  /** Opens a worker; frees its memory again where the fabric refuses, as it is closed. */
  public static Worker open(Fabric fabric, RegisteredMemory registered) {
    try {
      return fabric.worker(registered);
    } catch (Throwable e) {
      registered.close();
      throw e;
    }
  }
}
