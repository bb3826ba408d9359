package pando.durable;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import pando.durable.holder.Holders;
import pando.durable.holder.LogService;
import pando.fabric.server.CallHandler;
import pando.index.Systems;
import pando.journal.LogOptions;

/** A data folder that memory server 0 or 1 has of a cluster: all entries, and what is logged. */
public final class ClusterFolder implements AutoCloseable {
  /** Memory servers 0 and 1 have folders, or the one that there is. */
  public static final int FOLDERS_MAX = Holders.HOLDERS_MAX;

  private final LogService service;

  /**
   * Prepares a folder. It is opened, and made if it is not there, when a compute server begins a
   * generation; why it cannot be used is reported there.
   *
   * @param onFailure run, perhaps more than once, when nothing can be written to it any more: the
   *     memory server must end then, and start again
   */
  public ClusterFolder(Path folder, LogOptions options, Runnable onFailure) {
    this.service = new LogService(folder, options, onFailure);
  }

  /** Returns the number of the function of the handler that holds logs. */
  public static int function() {
    return LogService.FUNCTION;
  }

  /** Returns {@link Systems#handlers}; the last one, which holds logs, has this folder. */
  public List<CallHandler> handlers() {
    return Stream.concat(
            Systems.handlers().stream().filter(other -> other.function() != function()),
            Stream.of(service))
        .toList();
  }

  /** Closes the folder. The memory server has ended. */
  @Override
  public void close() {
    service.close();
  }
}
