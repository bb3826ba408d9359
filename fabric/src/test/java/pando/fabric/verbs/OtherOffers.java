package pando.fabric.verbs;

import java.lang.foreign.MemorySegment;
import java.util.function.UnaryOperator;
import pando.fabric.wire.CardAccess;

/** A memory server's card that offers its clients something else. */
record OtherOffers(MemoryCard card, UnaryOperator<Offer> change) implements CardAccess {
  /** Returns an offer by whose key the DRAM is not reached, as if it had been deregistered. */
  static Offer withWrongKey(Offer offer) {
    Offer.Place dram = new Offer.Place(offer.dram().address(), offer.dram().key() + 1);
    return new Offer(offer.endpoint(), dram);
  }

  @Override
  public void start(Calls calls) {
    card.start(calls);
  }

  @Override
  public Way open() {
    Way way = card.open();
    return new Way() {
      @Override
      public int serve(MemorySegment message, int requestBytes) {
        int bytes = way.serve(message, requestBytes);
        if (bytes == Offer.RESPONSE_BYTES) {
          change.apply(Offer.read(message)).write(message);
        }
        return bytes;
      }

      @Override
      public void close() {
        way.close();
      }
    };
  }

  @Override
  public void close() {
    card.close();
  }
}
