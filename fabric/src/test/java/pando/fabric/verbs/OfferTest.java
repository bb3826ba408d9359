package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
    for (Offer offer : List.of(offer(null), offer(Atomics.NONE), offer(Atomics.ALL))) {
      offer.write(message);
      assertThat(Offer.read(message)).isEqualTo(offer);
    }
    Offer.ask(endpoint, message);
    assertThat(Offer.endpoint(message)).isEqualTo(endpoint);
  }

  private Offer offer(@Nullable Atomics onCard) {
    return new Offer(
        endpoint,
        new Offer.Place(Long.MIN_VALUE, -1),
        new Offer.Place(0, 7),
        new Offer.Place(64, Integer.MAX_VALUE),
        onCard);
  }

  @Test
  void shouldKeepApartWhatWorksOnTheOnChipRegion() {
    for (int i = 0; i < 8; i++) {
      Atomics works = new Atomics((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
      offer(works).write(message);
      assertThat(Offer.read(message).onCard()).isEqualTo(works);
    }
  }

  /** In memory of the card it has addresses and a key of its own. */
  @Test
  void shouldFindTheOnChipRegionInItsOwnPlace() {
    Offer offer = offer(Atomics.NONE);
    int bytes = 1 << 20;
    long dram = GlobalAddress.of(3, 640);
    assertThat(offer.address(bytes, dram, 8)).isEqualTo(Long.MIN_VALUE + 640);
    assertThat(offer.key(dram)).isEqualTo(-1);
    long onChip = GlobalAddress.onChip(3, ServerLayout.ON_CHIP_BYTES - 8);
    assertThat(offer.address(bytes, onChip, 8)).isEqualTo(ServerLayout.ON_CHIP_BYTES - 8);
    assertThat(offer.key(onChip)).isEqualTo(7);
    assertThatThrownBy(() -> offer.address(bytes, onChip, 16))
        .isInstanceOf(InvalidAddressException.class);
    assertThatThrownBy(() -> offer.address(bytes, GlobalAddress.of(3, bytes), 8))
        .isInstanceOf(InvalidAddressException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 16, Long.MAX_VALUE})
  void shouldRefuseAnUnknownPlaceOfTheOnChipRegion(long where) {
    offer(null).write(message);
    Words.set(message, 13 * 8, where);
    assertThatThrownBy(() -> Offer.read(message)).isInstanceOf(IllegalArgumentException.class);
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
