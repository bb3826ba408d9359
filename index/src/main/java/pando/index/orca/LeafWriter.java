package pando.index.orca;

import java.lang.foreign.MemorySegment;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.VerbList;
import pando.fabric.Worker;
import pando.fabric.memory.Closing;
import pando.index.orca.directory.DirectoryPage;
import pando.index.orca.leaf.LeafPacker;
import pando.index.pool.Workers;

/** Writes leaves and pages for one thread of a load, several by one list of verbs. */
final class LeafWriter implements AutoCloseable {
  /** WRITEs of one scatter. */
  private static final int WRITTEN_MAX = 16;

  final LeafPacker packer = new LeafPacker();
  final Worker worker;
  final MemorySegment memory;

  /** Local offset of the buffer for the message of a CALL. */
  final long message;

  private final RegisteredMemory registered;
  private final int imageBytes;
  private final VerbList list = new VerbList();

  LeafWriter(Fabric fabric, OrcaSettings<?> options) {
    this.imageBytes = Math.max(options.nodeBytes(), DirectoryPage.BYTES);
    this.message = (long) WRITTEN_MAX * imageBytes;
    this.registered = fabric.register(message + Worker.CALL_BYTES_MAX);
    this.worker = Workers.open(fabric, registered);
    this.memory = worker.memory();
  }

  /** Returns the local offset of what is written next. */
  long nextImage() {
    return (long) list.size() * imageBytes;
  }

  /** Adds the WRITE of what is at {@link #nextImage}. */
  void post(long address, int bytes) {
    list.write(address, nextImage(), bytes);
    if (list.size() == WRITTEN_MAX) {
      writeAll();
    }
  }

  void writeAll() {
    if (list.size() > 0) {
      worker.scatter(list);
      list.clear();
    }
  }

  @Override
  public void close() {
    Closing.all(worker::close, registered::close);
  }
}
