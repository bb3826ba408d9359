package pando.index.orca.directory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import pando.fabric.Backoff;
import pando.fabric.Fabric;
import pando.index.Pools;

@Timeout(300)
class LeafViewTest {
  private static final int ENTRY = 1;

  /** The new stamp beside the old pointer would make what the old extent has look like the leaf. */
  @Test
  void shouldNotMixTheExtentsBeforeAndAfterAMergeThatPublishesMeanwhile() {
    try (Fabric fabric = Pools.open(1, 1 << 20, 1);
        Directory directory = new Directory(fabric)) {
      LeafEntries entries = directory.entries();
      open(directory);
      publish(entries, 2);
      MergingBackoff backoff = new MergingBackoff(entries);
      LeafView view = new LeafView(directory, backoff);

      directory.find(5, view);

      assertThat(backoff.merges).isEqualTo(1);
      assertThat(view.pointer).isEqualTo(LeafPointer.of(4096 * 3, 3));
      assertThat(view.stamp).isEqualTo(3);
      assertThat(LeafEntries.records(view.control)).isEqualTo(3);
      assertThat(view.isCurrent()).isTrue();
    }
  }

  /** What the caller looks at before it compares the extents must be there. */
  @Test
  void shouldFindASegmentOfTheLeafInHeadsThatAMergePublishesMeanwhile() {
    try (Fabric fabric = Pools.open(1, 1 << 20, 1);
        Directory directory = new Directory(fabric)) {
      LeafEntries entries = directory.entries();
      open(directory);
      LeafView view = new LeafView(directory, attempt -> {});
      for (int before : new int[] {2, 31}) {
        for (int after : new int[] {2, 31}) {
          publish(entries, before);
          directory.find(5, view);
          publish(entries, after);
          for (long key : new long[] {Long.MIN_VALUE, 5, Long.MAX_VALUE}) {
            view.seek(key);
            assertThat(view.segment).as("%s, %s", before, after).isBetween(0, before - 1);
          }
        }
      }
    }
  }

  private static void open(Directory directory) {
    assertThat(directory.entries().take()).isEqualTo(ENTRY);
    directory.open(
        DirectoryNode.ofLeaves(0, new long[] {Long.MIN_VALUE}, Long.MAX_VALUE, new int[] {ENTRY}));
  }

  private static void publish(LeafEntries entries, int number) {
    assertThat(entries.tryLatch(ENTRY)).isTrue();
    entries.startMerge(ENTRY, true);
    entries.startPublish(ENTRY);
    entries.setPointer(ENTRY, LeafPointer.of(4096L * number, number));
    entries.setStamp(ENTRY, number);
    entries.setHeads(ENTRY, 1, number, segment -> segment);
    entries.setRecords(ENTRY, number, 1, 0);
    entries.endPublish(ENTRY);
    entries.unlatch(ENTRY, 0);
  }

  /** Publishes a merge at the first transition. */
  private static final class MergingBackoff implements Backoff {
    private final LeafEntries entries;
    private int merges;

    private MergingBackoff(LeafEntries entries) {
      this.entries = entries;
    }

    @Override
    public void pause(int attempt) {}

    @Override
    public void transition() {
      if (merges == 0) {
        merges++;
        publish(entries, 3);
      }
    }
  }
}
