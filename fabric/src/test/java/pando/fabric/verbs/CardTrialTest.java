package pando.fabric.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import pando.fabric.memory.NativeMemory;
import pando.fabric.memory.Words;
import pando.fabric.verbs.SoftwareCard.Fault;

/** What is judged of a card, of which each fault must be found. */
class CardTrialTest {
  private final NativeMemory memory = NativeMemory.allocate(CardTrial.LOCAL_BYTES);
  private final NativeMemory remote = NativeMemory.allocate(3 * Offer.SCRATCH_BYTES);

  @AfterEach
  void free() {
    memory.close();
    remote.close();
  }

  @Test
  void shouldFindThatARightCardHasAll() {
    SoftwareCard card = new SoftwareCard(Fault.NONE);
    assertThat(on(card, CardTrial::masked)).isEqualTo(Atomics.ALL);
    assertThat(on(card, CardTrial::seesPlain)).isTrue();
    assertThat(on(card, CardTrial::seesQuietly)).isTrue();
    assertThat(card.done()).contains("MASKED_CAS_8", "MASKED_FAA", "MASKED_CAS_16", "CAS", "FAA");
    for (int i = 0; i < 3 * Offer.SCRATCH_BYTES; i += Long.BYTES) {
      assertThat(Words.get(remote.segment(), i)).as("offset %d", i).isZero();
    }
  }

  /** Of each masked atomic that the fault is about. */
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void shouldFindEachFault(Fault fault) {
    Atomics expected =
        switch (fault) {
          case CAS_REFUSED -> new Atomics(false, true, true);
          case FAA_REFUSED, BOUNDARIES_IGNORED, BOUNDARIES_ADDED -> new Atomics(true, false, true);
          case REFUSED_16, SWAPPED_WORDS_16, HALF_COMPARED_16, HALF_16 ->
              new Atomics(true, true, false);
          case SWAPPED_FIELDS,
              SWAPPED_MASKS,
              COMPARE_MASK_IGNORED,
              SWAP_MASK_IGNORED,
              NOTHING_COMPARED ->
              new Atomics(false, true, false);
          default -> Atomics.NONE;
        };

    assertThat(on(new SoftwareCard(fault), CardTrial::masked)).isEqualTo(expected);
  }

  @Test
  void shouldFindThatVerbsFail() {
    SoftwareCard card = new SoftwareCard(Fault.BROKEN);
    assertThat(on(card, CardTrial::seesPlain)).isFalse();
    assertThat(on(card, CardTrial::seesQuietly)).isFalse();
  }

  /** Others may use the line meanwhile. */
  @Test
  void shouldChangeNothingWhereItLooksQuietly() {
    for (int i = 0; i < 3 * Offer.SCRATCH_BYTES; i += Long.BYTES) {
      Words.set(remote.segment(), i, 7L * i);
    }
    assertThat(on(new SoftwareCard(Fault.NONE), CardTrial::seesQuietly)).isTrue();
    for (int i = 0; i < 3 * Offer.SCRATCH_BYTES; i += Long.BYTES) {
      assertThat(Words.get(remote.segment(), i)).isEqualTo(7L * i);
    }
  }

  private <R> R on(SoftwareCard card, Function<CardTrial, R> what) {
    long line = remote.segment().address() + Offer.SCRATCH_BYTES;
    Offer.Place place = new Offer.Place(line, SoftwareCard.REMOTE_KEY);
    try (CardTrial trial = new CardTrial(card, memory, SoftwareCard.LOCAL_KEY, place)) {
      return what.apply(trial);
    }
  }
}
