package pando.durable.holder;

import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import pando.fabric.ComputeServer;
import pando.fabric.MemoryServerLostException;
import pando.index.CorruptNodeException;
import pando.journal.DamagedFolderException;
import pando.journal.RecordStream;
import pando.journal.RecordVisitor;

/** Logs of compute servers that are lost, which the owners of their keys replay. For one thread. */
public final class Inheritance {
  /*
   * A log has the changes of a range that the pool may lack. The partition table says whose range
   * that is now: the heir's, or still that of the compute server that has logged, which starts
   * anew. It replays the log before it serves the range, has the pool get all of that, and only then
   * has the holders drop the log. An owner that is lost before has served nothing of the range, so
   * the next one does all again. So a range that is served has no log left but its owner's, and it does
   * not matter in which order logs are replayed.
   *
   * Which logs are an owner's shows by their keys. All keys of a log are in one range: one that is
   * given away leaves nothing in the log of its giver.
   */

  private static final System.Logger LOG = System.getLogger(Inheritance.class.getName());

  private final Holders holders;
  private final Map<ComputeServer, Holders.Bytes> logs = new LinkedHashMap<>();

  /** Reads all logs that have ended. */
  public Inheritance(Holders holders) {
    this.holders = holders;
    for (ComputeServer log : holders.pending()) {
      Holders.Bytes bytes = holders.read(log);
      if (bytes != null) {
        logs.put(log, bytes);
      }
    }
  }

  /**
   * Replays the logs whose keys a compute server has by now. Nobody may read or change these keys
   * meanwhile. Can be done again where it fails.
   *
   * @param isOwn whether it has a key
   * @param changes receives each PUT and REMOVE; those that need a memory server that is lost, or a
   *     damaged node, are left out
   * @param flush writes what was changed to the pool
   */
  public void replay(Predicate<MemorySegment> isOwn, RecordVisitor changes, Runnable flush) {
    List<ComputeServer> replayed = new ArrayList<>();
    logs.forEach((log, read) -> {
      if (isOwn(log, read, isOwn)) {
        replay(log, read, changes, holders);
        replayed.add(log);
      }
    });
    if (replayed.isEmpty()) {
      return;
    }
    if (!PlantedLogBug.DROPPED_EARLY) {
      flush.run();
    }
    replayed.forEach(holders::drop);
    logs.keySet().removeAll(replayed);
  }

  /** Returns whether a log has keys of an owner, or none. */
  private static boolean isOwn(
      ComputeServer log, Holders.Bytes read, Predicate<MemorySegment> isOwn) {
    boolean[] isAnyOwn = new boolean[1];
    boolean[] isAnyOthers = new boolean[1];
    try {
      stream(log)
          .visit(
              read.bytes(),
              read.first(),
              (_, kind, key, _) -> {
                boolean own = isChange(kind) && isOwn.test(key);
                isAnyOwn[0] |= own;
                isAnyOthers[0] |= isChange(kind) && !own;
              });
    } catch (DamagedFolderException e) {
      if (isAnyOwn[0]) {
        throw e;
      }
      LOG.log(
          Level.ERROR, "a log cannot be read; the owner of its keys reports it as well: " + log, e);
      return false;
    }
    return !isAnyOthers[0];
  }

  private static RecordStream stream(ComputeServer log) {
    return new RecordStream(log.toString(), log.process());
  }

  private static void replay(
      ComputeServer log, Holders.Bytes read, RecordVisitor changes, Holders holders) {
    long[] left = new long[1];
    stream(log)
        .visit(
            read.bytes(),
            read.first(),
            (place, kind, key, value) -> {
              try {
                changes.visit(place, kind, key, value);
              } catch (CorruptNodeException e) {
                left[0]++;
              } catch (MemoryServerLostException e) {
                // To others it may be there.
                if (!holders.isAnyLost()) {
                  throw e;
                }
                left[0]++;
              }
            });
    if (left[0] > 0) {
      LOG.log(
          Level.ERROR,
          "changes are lost with a memory server or damaged nodes: log={0}, changes={1}",
          log,
          left[0]);
    }
  }

  private static boolean isChange(RecordVisitor.Kind kind) {
    return kind == RecordVisitor.Kind.PUT || kind == RecordVisitor.Kind.REMOVE;
  }
}
