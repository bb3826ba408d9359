package pando.fabric.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import pando.fabric.Fabric;
import pando.fabric.Worker;

class LayoutTest {
  @Test
  void shouldPlaceRegionsOneAfterAnother() {
    ServerLayout layout = new ServerLayout((20 << 20) + 12_345, 8 << 20);
    assertThat(layout.chunks()).isEqualTo(2);
    assertThat(layout.dramBytes()).isEqualTo((16 << 20) + Fabric.CATALOGUE_BYTES);
    assertThat(layout.onChipOffset()).isEqualTo(layout.dramBytes());
    assertThat(layout.mailboxOffset()).isEqualTo(layout.dramBytes() + (256 << 10));
    assertThat(layout.bytes()).isEqualTo(layout.mailboxOffset() + MailboxLayout.BYTES);
  }

  @Test
  void shouldAlignRegionsForOddChunks() {
    ServerLayout layout = new ServerLayout(5 * 1088, 1088);
    assertThat(layout.chunks()).isEqualTo(5);
    assertThat(layout.onChipOffset() % 4096).isZero();
    assertThat(layout.mailboxOffset() % 4096).isZero();
  }

  @Test
  void shouldHoldMoreThanAnIntegerCounts() {
    ServerLayout layout = new ServerLayout(64L << 30, 8 << 20);
    assertThat(layout.chunks()).isEqualTo(8192);
    assertThat(layout.dramBytes()).isEqualTo((64L << 30) + Fabric.CATALOGUE_BYTES);
  }

  @Test
  void shouldRefuseTooFewOrTooManyChunks() {
    assertThatThrownBy(() -> new ServerLayout(1 << 20, 8 << 20))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bytes=1048576, least=8388608, greatest=");
    assertThatThrownBy(() -> new ServerLayout(1L << 46, 1024))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldSumUpTheMailbox() {
    assertThat(MailboxLayout.SLOT_BYTES).isEqualTo(64 + Worker.CALL_BYTES_MAX).isEqualTo(4096);
    assertThat(MailboxLayout.slot(0)).isEqualTo(4096);
    assertThat(MailboxLayout.slot(MailboxLayout.SLOTS)).isEqualTo(MailboxLayout.BYTES);
    assertThat(MailboxLayout.pending(MailboxLayout.PENDING_WORDS))
        .isLessThanOrEqualTo(MailboxLayout.slot(0));
    assertThat(SpaceMessage.bytes(2 + SpaceMessage.NODES_MAX)).isEqualTo(Worker.CALL_BYTES_MAX);
  }
}
