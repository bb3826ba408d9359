package pando.fabric.verbs;

import java.lang.foreign.ValueLayout;
import java.util.Optional;
import pando.fabric.memory.NativeFunction;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvContext;
import pando.fabric.verbs.Abi.VerbsContext;

/**
 * The functions in front of a card that is open. An older library has fewer of them, and a card not
 * all that its library has.
 *
 * @param context address of the card, which has the newer interface
 */
record Extensions(long context) {
  /**
   * Returns a function, if it is there.
   *
   * @param distance from the card, of {@link VerbsContext}
   */
  Optional<NativeFunction> function(String name, int distance, Class<?> result) {
    // The size of all of it says how far it goes: older ones begin nearer to the card.
    if (-distance > word(VerbsContext.SZ) - IbvContext.BYTES || word(distance) == 0) {
      return Optional.empty();
    }
    return Optional.of(NativeFunction.at(name, word(distance), result));
  }

  private long word(int distance) {
    return NativeMemory.at(context + distance, Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
  }
}
