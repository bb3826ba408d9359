package pando.cluster;

/** Where tests interrupt a leader: each is called once what it names is written or done. */
interface LeaderHooks {
  /** Interrupts nothing. */
  LeaderHooks NONE = (_, _) -> {};

  /** A point in a change. */
  enum Point {
    LEADING,
    LOSS_FOUND,
    PLANNED,
    FENCE_BEGUN,
    FENCED,
    LEASE_OVER,
    HEIR_NAMED,
    ENDED
  }

  /**
   * Called at a point.
   *
   * @param change id of the change, 0 where there is none
   */
  void reached(Point point, int change);
}
