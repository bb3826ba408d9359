package pando.client;

import pando.client.wire.Outcome;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PandoException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.server.CallFailedException;
import pando.index.CorruptNodeException;

/** What a session throws for what a compute server answers. */
final class Failures {
  private Failures() {}

  /** Returns the exception for the outcome of a call that failed. */
  static PandoException of(Call call, String server) {
    String text = call.text + " (at compute server " + server + ")";
    return switch (call.outcome) {
      case Outcome.FULL -> new PoolFullException(text);
      case Outcome.CORRUPT -> new CorruptNodeException(call.foundValue, reason(call, text));
      case Outcome.LOST -> new MemoryServerLostException(text);
      case Outcome.STALLED -> new StalledException(text);
      case Outcome.FENCED -> new FencedException(text);
      case Outcome.UNKNOWN -> new UnknownOutcomeException(text);
      case Outcome.CALL_FAILED -> new CallFailedException(text);
      case Outcome.INVALID_ADDRESS -> new InvalidAddressException(text);
      default -> new ClientException(text);
    };
  }

  /** Returns the text without the address, which the exception says again. */
  private static String reason(Call call, String text) {
    String address = "corrupt node at " + GlobalAddress.toString(call.foundValue) + ": ";
    return text.startsWith(address) ? text.substring(address.length()) : text;
  }
}
