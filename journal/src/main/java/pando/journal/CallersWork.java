package pando.journal;

import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import pando.fabric.memory.Closing;

/**
 * Work with the files of an open log that a caller has done. A thread of its own does it: where a
 * caller is interrupted, the channel that it uses is closed, and a force that this cuts off counts
 * as one that has failed.
 */
final class CallersWork {
  /** What is done. */
  @FunctionalInterface
  interface FileWork {
    void run() throws IOException;
  }

  private CallersWork() {}

  /** Does work, and waits for its end, whatever it is. A caller that is interrupted stays so. */
  static void run(FileWork work) throws IOException {
    FutureTask<Boolean> task =
        new FutureTask<>(() -> {
          work.run();
          return true;
        });
    Closing.join(Thread.ofPlatform().daemon().name("pando-log-caller").start(task));
    if (task.state() == Future.State.FAILED) {
      switch (task.exceptionNow()) {
        case IOException e -> throw e;
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new IllegalStateException(e);
      }
    }
  }
}
