package pando.door.resp;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import pando.durable.DurableStrings;
import pando.fabric.Fabric;
import pando.fabric.memory.Closing;
import pando.index.Pools;
import pando.journal.DataFolder;
import pando.journal.FaultyFolder;
import pando.journal.LogFailedException;
import pando.journal.LogOptions;
import pando.journal.SyncPolicy;

/** A door of one event loop to byte strings of a data folder. */
record FolderDoor(Fabric fabric, DataFolder folder, DurableStrings strings, RespDoor door)
    implements AutoCloseable {
  /** Opens a folder of the system. */
  static FolderDoor open(Path at, SyncPolicy sync) throws IOException {
    return open(DataFolder.open(at, DurableStrings.KIND, options(sync)), 1);
  }

  /** Opens a folder that fails. */
  static FolderDoor open(FaultyFolder folder, SyncPolicy sync) throws IOException {
    return open(folder, sync, 1);
  }

  static FolderDoor open(FaultyFolder folder, SyncPolicy sync, int eventLoops) throws IOException {
    return open(folder.open(DurableStrings.KIND, options(sync)), eventLoops);
  }

  static LogOptions options(SyncPolicy sync) {
    return LogOptions.defaults().withSync(sync).withSegmentBytes(1 << 20);
  }

  private static FolderDoor open(DataFolder folder, int eventLoops) throws IOException {
    Fabric fabric = Pools.open(2, 64 << 20, 1);
    @Nullable DurableStrings strings = null;
    try {
      strings = DurableStrings.open(folder, TestDoor.indexOptions(), fabric);
      RespOptions options = RespOptions.loopback(0).withEventLoops(eventLoops);
      return new FolderDoor(fabric, folder, strings, RespDoor.open(strings, options));
    } catch (Throwable e) {
      if (strings != null) {
        Closing.after(e, strings::close);
      }
      Closing.after(e, folder::close);
      Closing.after(e, fabric::close);
      throw e;
    }
  }

  RawClient raw() throws IOException {
    return new RawClient(door.address());
  }

  @Override
  public void close() {
    try (fabric) {
      door.close();
      strings.close();
      folder.close();
    } catch (LogFailedException e) {
      // A test has made it fail.
      if (folder.log().hindrance().isEmpty()) {
        throw e;
      }
    }
  }
}
