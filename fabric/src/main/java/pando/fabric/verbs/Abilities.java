package pando.fabric.verbs;

import pando.fabric.Capabilities.OnChip;
import pando.fabric.Fabric;
import pando.fabric.RegisteredMemory;
import pando.fabric.Worker;

/**
 * What the cards of a fabric can do, as was found out when it was attached.
 *
 * @param atomics that all memory servers' cards were seen to do for this one
 * @param onChip where the on-chip regions are: on the card if all of them are
 */
record Abilities(Atomics atomics, OnChip onChip) {
  /**
   * Tries them with each memory server, and has the card's queue pairs take raw requests from then
   * on if there is something to send by them.
   *
   * @param control by which queue pairs are connected
   * @throws VerbsException if a memory server has no card, or the options ask for more than was
   *     seen
   */
  static Abilities find(Device device, Fabric control, CardOptions options) {
    boolean raw =
        device.hasRawRequests() && options.maskedAtomics() != CardOptions.MaskedAtomics.EMULATED;
    Abilities found = new Abilities(raw ? Atomics.ALL : Atomics.NONE, OnChip.CARD);
    try (RegisteredMemory message = control.register(Worker.CALL_BYTES_MAX);
        Worker asker = control.worker(message)) {
      for (int server = 0; server < control.memoryServers(); server++) {
        found = found.and(of(device, asker, server, !found.atomics.equals(Atomics.NONE)));
        found.check(device, server, options);
      }
    }
    device.useRawRequests(found.atomics.isMasked() || found.atomics.maskedCas16());
    return found;
  }

  private Abilities and(Abilities other) {
    boolean both = onChip == OnChip.CARD && other.onChip == OnChip.CARD;
    return new Abilities(atomics.and(other.atomics), both ? OnChip.CARD : OnChip.HOST);
  }

  private void check(Device device, int server, CardOptions options) {
    if (options.maskedAtomics() == CardOptions.MaskedAtomics.NATIVE && !atomics.isMasked()) {
      throw new VerbsException(
          "the cards do no masked atomics by themselves, have them emulated: card="
              + device.name()
              + ", server="
              + server
              + (device.hasRawRequests()
                  ? ", seen=" + atomics
                  : ", because=no mlx5 card, or no library of recent date: library=" + Mlx5.NAME));
    }
  }

  private static Abilities of(Device device, Worker asker, int server, boolean raw) {
    device.useRawRequests(raw);
    try {
      return of(device, asker, server);
    } catch (VerbsException e) {
      if (!raw) {
        throw e;
      }
      // The card, or an older library, may refuse queue pairs for raw requests alone.
      device.useRawRequests(false);
      return of(device, asker, server);
    } finally {
      device.useRawRequests(false);
    }
  }

  private static Abilities of(Device device, Worker asker, int server) {
    try (ServerWay way = new ServerWay(device, asker, server)) {
      Offer offer = way.offer();
      Atomics atomics =
          device.rawRequests() == null
              ? Atomics.NONE
              : CardTrial.on(device, way, offer.scratch(), CardTrial::masked);
      if (offer.onCard() == null) {
        return new Abilities(atomics, OnChip.HOST);
      }
      if (!CardTrial.on(device, way, offer.onChip(), CardTrial::seesQuietly)) {
        throw new VerbsException(
            "the on-chip region, in the memory server's card, is not reached; have it in the"
                + " host's memory: server="
                + server
                + ", card="
                + device.name());
      }
      return new Abilities(atomics.and(offer.onCard()), OnChip.CARD);
    }
  }
}
