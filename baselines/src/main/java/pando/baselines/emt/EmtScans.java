package pando.baselines.emt;

import pando.index.session.LeafScan;

/** Scans trees: what one CALL returns counts as a leaf. */
final class EmtScans extends LeafScan {
  private final EmtContext context;
  private final TreeCalls calls;
  private final Runnable fields = this::setFields;
  private final int rowsMax;
  private long first;
  private long last;
  private long rows;
  private boolean downwards;
  private int count;
  private long fence;

  EmtScans(EmtContext context) {
    super(context::abandon);
    this.context = context;
    this.calls = context.calls;
    this.rowsMax = context.server.options.rows();
  }

  @Override
  protected int readLeaves(long from, long to, boolean down, long limit) {
    Ranges ranges = context.ranges();
    int tree = ranges.find(from);
    first = from;
    last = to;
    rows = Math.min(limit, rowsMax);
    downwards = down;
    long operation = down ? EmtMessage.SCAN_DOWN : EmtMessage.SCAN;
    long status = calls.send(ranges.tree(tree), operation, EmtMessage.SCAN_BYTES, fields);
    count = Math.clamp(calls.get(EmtMessage.COUNT), 0, EmtMessage.ROWS_MAX);
    boolean more = status == EmtMessage.FOUND && count > 0;
    fence = more ? key(count - 1) : down ? ranges.low(tree) : ranges.high(tree);
    return 1;
  }

  private void setFields() {
    calls.set(EmtMessage.KEY, first);
    calls.set(EmtMessage.TO, last);
    calls.set(EmtMessage.ROWS, rows);
  }

  private long key(int row) {
    return calls.get(EmtMessage.LIST + row * EmtMessage.ENTRY_BYTES);
  }

  private long value(int row) {
    return calls.get(EmtMessage.LIST + row * EmtMessage.ENTRY_BYTES + Long.BYTES);
  }

  @Override
  protected long fence(int leaf, boolean down) {
    return fence;
  }

  @Override
  protected int entriesMax(int leaf) {
    return count;
  }

  /** All of them are wanted: the request had the bounds. */
  @Override
  protected int copySorted(int leaf, long least, long greatest, long[] keys, long[] values) {
    for (int i = 0; i < count; i++) {
      int row = downwards ? count - 1 - i : i;
      keys[i] = key(row);
      values[i] = value(row);
    }
    return count;
  }
}
