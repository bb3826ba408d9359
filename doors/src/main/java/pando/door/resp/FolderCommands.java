package pando.door.resp;

import java.util.List;
import pando.journal.DataFolder;
import pando.journal.Log;

/** Commands of a door whose changes are in the log of a folder. */
final class FolderCommands {
  private final DataFolder folder;
  private final Log log;

  FolderCommands(DataFolder folder) {
    this.folder = folder;
    this.log = folder.log();
  }

  List<Command> all() {
    return List.of(
        new Command("SAVE", 1, this::save),
        new Command("BGSAVE", -1, this::saveBehind),
        new Command("LASTSAVE", 1, call -> call.replies.integer(log.safeMillis() / 1000)),
        new Command("BGREWRITEAOF", 1, this::merge));
  }

  /** Has the reply wait until all of now is on the disk. */
  private void save(RespCall call) {
    log.check();
    call.store.dependOn(log.end());
    call.replies.ok();
  }

  private void saveBehind(RespCall call) {
    boolean isScheduled = call.request.count() == 2 && call.request.is(1, "SCHEDULE");
    if (call.request.count() > 1 && !isScheduled) {
      throw Refusal.syntax();
    }
    log.check();
    log.whenSynced(log.end(), () -> {});
    call.replies.simple("Background saving started");
  }

  private void merge(RespCall call) {
    log.check();
    folder.merge();
    call.replies.simple("Background append only file rewriting started");
  }
}
