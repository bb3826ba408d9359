package pando.index.bugs;

/**
 * Bugs that a test plants to show that the checks find them. One is active if the JVM was started
 * with {@code -Dpando.plant=} and its name; otherwise the constants are false and cost nothing.
 */
public final class PlantedBug {
  private static final String PLANTED = System.getProperty("pando.plant", "");

  /** A split does not check whether the node has changed since it was found. */
  public static final boolean MISSING_VALIDATION = PLANTED.equals("missing-validation");

  /** A dirty node is evicted without being written back. */
  public static final boolean LOST_WRITE_BACK = PLANTED.equals("lost-write-back");

  /** A shared node is unlocked before its image is written. */
  public static final boolean EARLY_UNLOCK = PLANTED.equals("early-unlock");

  /** A split of DEX writes the parent before the sibling that it points to. */
  public static final boolean SIBLING_LAST = PLANTED.equals("cluster-dex-sibling-last");

  /** A split of DEX writes the node before the parent that points to its sibling. */
  public static final boolean NODE_FIRST = PLANTED.equals("cluster-dex-node-first");

  /** The heir of DEX leaves locks that the lost compute server had taken. */
  public static final boolean LOCKS_KEPT = PLANTED.equals("cluster-dex-locks-kept");

  /** DEX does not narrow nodes that are wider than their parents say. */
  public static final boolean KEPT_WIDE = PLANTED.equals("cluster-dex-kept-wide");

  /** A DEFT leaf keeps its stamp when it is written as a whole. */
  public static final boolean FIXED_VERSION = PLANTED.equals("fixed-version");

  /** A drain of DEFT does not wait for the operations behind one gate. */
  public static final boolean GATE_NOT_AWAITED = PLANTED.equals("drain-gate-not-awaited");

  /** An operation that comes while a turn is executed gets its result. */
  public static final boolean TURN_OLD_RESULT = PLANTED.equals("turn-old-result");

  /** ROLEX does not retire the old leaves of a model that was retrained. */
  public static final boolean KEPT_LEAVES = PLANTED.equals("kept-leaves");

  /** A memory server of EMT-D executes a repeated CALL again. */
  public static final boolean EMT_RUNS_TWICE = PLANTED.equals("emt-runs-twice");

  /** EMT-D does not ask again about memory servers that it passed on the way to a neighbour. */
  public static final boolean EMT_EDGE_UNCONFIRMED = PLANTED.equals("emt-edge-unconfirmed");

  /** A burial releases the locks, and leaves the changes under them half done. */
  public static final boolean UNLOCKED_ALONE = PLANTED.equals("burial-unlocked-alone");

  /** A leaf of ORCA is not pinned while a value is written to it. */
  public static final boolean PIN_SKIPPED = PLANTED.equals("orca-pin-skipped");

  /** A leaf of ORCA is pinned while it merges. */
  public static final boolean PINNED_WHILE_MERGING = PLANTED.equals("orca-pinned-while-merging");

  /** A merge of ORCA leaves cached records their old slots. */
  public static final boolean SLOT_KEPT = PLANTED.equals("orca-slot-kept");

  /** ORCA cleans a record by the slot that it had before a merge. */
  public static final boolean SLOT_OLD = PLANTED.equals("orca-slot-old");

  /** Merges of ORCA give a leaf's slots a generation that older slots of cached records have. */
  public static final boolean GENERATION_REPEATED = PLANTED.equals("orca-generation-repeated");

  /** A merge of ORCA that does not look for all cached records forgets which are dirty. */
  public static final boolean DIRTY_FORGOTTEN = PLANTED.equals("orca-dirty-forgotten");

  /** A merge of ORCA makes cached records CLEAN that were updated since it read them. */
  public static final boolean CLEAN_WHATEVER = PLANTED.equals("orca-clean-whatever");

  /** Cleaning of ORCA does not move the version of the leaf. */
  public static final boolean VERSION_KEPT = PLANTED.equals("orca-version-kept");

  /** Cleaning of ORCA lowers the dirty count before the value is written. */
  public static final boolean COUNTED_DOWN_EARLY = PLANTED.equals("orca-counted-down-early");

  /** An update of a CLEANING record of ORCA makes it DIRTY. */
  public static final boolean CLEANING_DIRTIED = PLANTED.equals("orca-cleaning-dirtied");

  /** An update of a DELTA record of ORCA does not raise the dirty count. */
  public static final boolean NEWER_UNCOUNTED = PLANTED.equals("orca-newer-uncounted");

  /** A DELTA_NEWER record of ORCA becomes DELTA, but the delta keeps the older value. */
  public static final boolean NEWER_DROPPED = PLANTED.equals("orca-newer-dropped");

  /** What was looked up in a leaf of ORCA is cached although a merge has begun since. */
  public static final boolean MERGES_IGNORED = PLANTED.equals("orca-merges-ignored");

  /** A key of ORCA is added although it was added since it was found absent. */
  public static final boolean UNCLAIMED = PLANTED.equals("orca-unclaimed");

  /** A scan of ORCA does not look into the cache. */
  public static final boolean SCAN_OF_LEAF = PLANTED.equals("orca-scan-of-leaf");

  /** A scan of ORCA does not look whether a leaf has moved meanwhile. */
  public static final boolean SCAN_WITHOUT_VERSION = PLANTED.equals("orca-scan-without-version");

  /** A merge of ORCA gives the old leaf back before the new one is published. */
  public static final boolean GIVEN_BACK_EARLY = PLANTED.equals("orca-given-back-early");

  /** A merge of ORCA publishes without a flag that makes readers wait. */
  public static final boolean PUBLISHED_UNFLAGGED = PLANTED.equals("orca-published-unflagged");

  /** ORCA's view of a leaf may mix what it had before a merge with what it has afterwards. */
  public static final boolean VIEW_MIXED = PLANTED.equals("orca-view-mixed");

  /** A merge of ORCA keeps the images of its leaf. */
  public static final boolean IMAGE_KEPT = PLANTED.equals("orca-image-kept");

  /** A filter of ORCA lacks the greatest key of its leaf. */
  public static final boolean FILTER_SHORT = PLANTED.equals("orca-filter-short");

  /** Cleaning of ORCA does not put what it has written into the image of the slot. */
  public static final boolean IMAGE_UNPATCHED = PLANTED.equals("orca-image-unpatched");

  /**
   * A session of P-Sherman, P-SMART or ORCA does not look whether its compute server still has the
   * key.
   */
  public static final boolean OWNER_UNCHECKED = PLANTED.equals("move-owner-unchecked");

  /** Ranges of P-Sherman, P-SMART or ORCA move while operations go on. */
  public static final boolean MOVED_UNGATED = PLANTED.equals("move-ungated");

  /** A compute server of ORCA gives keys away without writing back newer cached values. */
  public static final boolean GIVEN_UNCLEANED = PLANTED.equals("orca-given-uncleaned");

  /** A compute server of ORCA gives keys away without what waits in the deltas of their leaves. */
  public static final boolean GIVEN_UNMERGED = PLANTED.equals("orca-given-unmerged");

  /** A compute server of ORCA keeps cached records of keys that it has given away. */
  public static final boolean RECORDS_KEPT = PLANTED.equals("orca-records-kept");

  /** A sweep of ORCA takes the mark of a leaf with few changes, and does not merge the leaf. */
  public static final boolean SWEEP_FORGETS = PLANTED.equals("cluster-sweep-forgets");

  /** A record of byte strings is cached although its block has changed since it was READ. */
  public static final boolean RECORD_OLD = PLANTED.equals("bytes-record-old");

  /** A change of byte strings leaves the cached record as it is. */
  public static final boolean RECORD_KEPT = PLANTED.equals("bytes-record-kept");

  /** A segment of byte strings is used whatever its sum. */
  public static final boolean SUM_IGNORED = PLANTED.equals("bytes-sum-ignored");

  /** Changes of byte strings that wait stay behind where their blocks leave. */
  public static final boolean WAITING_LEFT = PLANTED.equals("cluster-strings-waiting-left");

  /** Blocks of byte strings count wherever their labels are, whatever the fences. */
  public static final boolean FENCES_IGNORED = PLANTED.equals("cluster-strings-fences-ignored");

  /** Cached byte strings are kept where their range was away. */
  public static final boolean STRINGS_KEPT = PLANTED.equals("cluster-strings-kept");

  /** A client sends a change again whose connection was cut before the answer. */
  public static final boolean SENT_TWICE = PLANTED.equals("cluster-sent-twice");

  /** A client takes a change for done whose connection was cut before the answer. */
  public static final boolean CUT_DONE = PLANTED.equals("cluster-cut-done");

  /** A client keeps its routes although a compute server does not own a key. */
  public static final boolean ROUTES_KEPT = PLANTED.equals("cluster-routes-kept");

  /** SMART writes a leaf as it was before it locked it: also one that was removed meanwhile. */
  public static final boolean SMART_IMAGE_WRITTEN = PLANTED.equals("smart-image-written");

  /** SMART answers by a cached slot that a key is absent. */
  public static final boolean SMART_ABSENT_FROM_COPY = PLANTED.equals("smart-absent-from-copy");

  /** SMART takes an emptied slot for any byte. */
  public static final boolean SMART_BYTE_MOVED = PLANTED.equals("smart-byte-moved");

  /** SMART replaces a node by what it reads of it, and does not freeze it. */
  public static final boolean SMART_UNFROZEN = PLANTED.equals("smart-unfrozen");

  /** A leaf of SMART is live before a slot leads to it. */
  public static final boolean SMART_BORN_LIVE = PLANTED.equals("smart-born-live");

  /** SMART uses a freed place again at once. */
  public static final boolean SMART_PLACE_AT_ONCE = PLANTED.equals("smart-place-at-once");

  /** SMART answers what is next to a key without looking twice. */
  public static final boolean SMART_NEIGHBOUR_ONCE = PLANTED.equals("smart-neighbour-once");

  private PlantedBug() {}
}
