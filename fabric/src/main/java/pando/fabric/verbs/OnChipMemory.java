package pando.fabric.verbs;

import org.jspecify.annotations.Nullable;
import pando.fabric.layout.ServerLayout;

/**
 * A memory server's on-chip region in memory of its card, and what was seen to work there before
 * the first client came.
 *
 * @param works masked atomics, by the card's own raw requests
 */
record OnChipMemory(DeviceMemory memory, Atomics works) {
  private static final int LAST_LINE = ServerLayout.ON_CHIP_BYTES - Offer.SCRATCH_BYTES;

  /** Allocates it; returns {@code null} if the card has not as much, or verbs fail there. */
  static @Nullable OnChipMemory find(Device device, CardOptions options) {
    DeviceMemory memory = DeviceMemory.allocate(device, ServerLayout.ON_CHIP_BYTES).orElse(null);
    if (memory == null) {
      return null;
    }
    boolean works = false;
    try {
      Offer.Place first = memory.region().place();
      Offer.Place last = new Offer.Place(LAST_LINE, first.key());
      Atomics seen = seesPlain(device, first, last) ? masked(device, first, options) : Atomics.NONE;
      // Again: that trial may have ended half-way, and indexes expect zeros.
      works = seesPlain(device, first, last);
      return works ? new OnChipMemory(memory, seen) : null;
    } finally {
      if (!works) {
        memory.close();
      }
    }
  }

  private static boolean seesPlain(Device device, Offer.Place first, Offer.Place last) {
    try (Loopback loopback = new Loopback(device)) {
      return CardTrial.on(device, loopback, first, CardTrial::seesPlain)
          && CardTrial.on(device, loopback, last, CardTrial::seesPlain);
    }
  }

  private static Atomics masked(Device device, Offer.Place line, CardOptions options) {
    return options.maskedAtomics() == CardOptions.MaskedAtomics.EMULATED
        ? Atomics.NONE
        : Loopback.masked(device, line);
  }
}
