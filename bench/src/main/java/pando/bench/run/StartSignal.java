package pando.bench.run;

/** Lets the measured parts of several processes begin together. */
@FunctionalInterface
public interface StartSignal {
  /** For a process that is alone. */
  StartSignal AT_ONCE = () -> {};

  /** Tells that this process is warm, and waits until all are. */
  void await();
}
