package pando.client;

import pando.client.wire.ClientFrame;
import pando.client.wire.Outcome;
import pando.fabric.FencedException;
import pando.fabric.GlobalAddress;
import pando.fabric.InvalidAddressException;
import pando.fabric.MemoryServerLostException;
import pando.fabric.PoolFullException;
import pando.fabric.StalledException;
import pando.fabric.UnknownOutcomeException;
import pando.fabric.server.CallFailedException;
import pando.index.CorruptNodeException;

/** What a session throws for what a compute server answers. */
final class AnswerFailures {
  private AnswerFailures() {}

  /** Returns the exception for byte strings that are asked for where there are words. */
  static IllegalStateException words(String server) {
    return new IllegalStateException(
        "the compute servers serve words, of 8 bytes: use PandoClient.session(),"
            + " or PandoMap.of(client, keys, values): computeServer="
            + server);
  }

  /** Returns the exception for words that are asked for where there are byte strings. */
  private static IllegalStateException strings(String server) {
    return new IllegalStateException(
        "the compute servers serve byte strings: use PandoClient.byteStrings(),"
            + " or PandoMap.of(client.byteStrings(), keys, values): computeServer="
            + server);
  }

  /** Returns the exception for what no other operation may run beside. */
  static IllegalStateException notAlone() {
    return new IllegalStateException(
        "a client cannot keep others out of the index: run it in a compute server's process");
  }

  /** Returns the exception for the outcome of a call that failed. */
  static RuntimeException of(Call call, String server) {
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
      case Outcome.OTHER_KIND ->
          ClientFrame.isOfStrings(call.kind) ? words(server) : strings(server);
      default -> new ClientException(text);
    };
  }

  /** Returns the text without the address, which the exception says again. */
  private static String reason(Call call, String text) {
    String address = "corrupt node at " + GlobalAddress.toString(call.foundValue) + ": ";
    return text.startsWith(address) ? text.substring(address.length()) : text;
  }
}
