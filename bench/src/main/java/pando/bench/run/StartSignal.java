package pando.bench.run;

/** Lets the measured parts of several processes begin together. */
@FunctionalInterface
public interface StartSignal {
  /** The signal of a single process: returns at once. */
  StartSignal AT_ONCE = () -> {};

  /** Reports that this process is warm, and waits until all are. */
  void await();
}
