package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.layout.ServerLayout;
import pando.fabric.memory.Words;

/** What both sides of a connection of cards tell each other, and what none may tell. */
class OfferTest {
  private final MemorySegment message = Arena.ofAuto().allocate(Offer.RESPONSE_BYTES, 64);
  private final Endpoint endpoint =
      new Endpoint(0xff_ffff, 0xff_fffe, 5, 16, 0xffff, new Gid(0, Long.MIN_VALUE, -1));

  @Test
  void shouldReadWhatWasWritten() {
    offer().write(message);
    assertThat(Offer.read(message)).isEqualTo(offer());
    Offer.ask(endpoint, message);
    assertThat(Offer.endpoint(message)).isEqualTo(endpoint);
  }

  private Offer offer() {
    return new Offer(endpoint, new Offer.Place(Long.MIN_VALUE, -1));
  }

  @Test
  void shouldFindTheOnChipRegionBehindDram() {
    int bytes = 1 << 20;
    long dram = GlobalAddress.of(3, 640);
    assertThat(offer().address(bytes, dram, 8)).isEqualTo(Long.MIN_VALUE + 640);
    long onChip = GlobalAddress.onChip(3, ServerLayout.ON_CHIP_BYTES - 8);
    assertThat(offer().address(bytes, onChip, 8))
        .isEqualTo(Long.MIN_VALUE + bytes + ServerLayout.ON_CHIP_BYTES - 8);
    assertThatThrownBy(() -> offer().address(bytes, onChip, 16))
        .isInstanceOf(InvalidAddressException.class);
    assertThatThrownBy(() -> offer().address(bytes, GlobalAddress.of(3, bytes), 8))
        .isInstanceOf(InvalidAddressException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "0, -1",
    "0, 0",
    "0, 16777216",
    "0, 4294967297",
    "1, -1",
    "1, 16777216",
    "2, -1",
    "2, 0",
    "2, 6",
    "2, 9223372036854775807",
    "3, -1",
    "3, 256",
    "4, -1",
    "4, 65536",
  })
  void shouldRefuseWhatNoQueuePairHas(int field, long value) {
    Offer.ask(endpoint, message);
    Words.set(message, 8L * field, value);
    assertThatThrownBy(() -> Offer.endpoint(message))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("field=" + field + ", value=" + value);
  }
}
