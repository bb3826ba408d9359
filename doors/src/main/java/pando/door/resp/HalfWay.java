package pando.door.resp;

/**
 * A refusal of a request that may have done a part already. In a transaction it would be seen as a
 * whole, so the transaction is undone.
 */
final class HalfWay extends Refusal {
  private static final long serialVersionUID = 1L;

  HalfWay(String message) {
    super(message);
  }
}
