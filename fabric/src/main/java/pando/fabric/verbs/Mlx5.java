package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import pando.fabric.memory.NativeFunction;
import pando.fabric.memory.NativeFunction.Returned;
import pando.fabric.memory.NativeLibrary;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvContext;
import pando.fabric.verbs.Abi.IbvQpInitAttrEx;
import pando.fabric.verbs.Abi.Mlx5dvQpInitAttr;

/**
 * The functions of {@code libmlx5} that make queue pairs for raw requests, for cards of its kind.
 */
final class Mlx5 {
  static final String NAME = "libmlx5.so.1";

  private static final int BOOLEAN_MASK = 0xff;

  private final NativeFunction isSupported;
  private final NativeFunction createQp;
  private final NativeFunction fromExtended;

  private Mlx5(NativeLibrary library) {
    isSupported = library.function("mlx5dv_is_supported", int.class);
    createQp = library.function("mlx5dv_create_qp", long.class);
    fromExtended = library.function("mlx5dv_qp_ex_from_ibv_qp_ex", long.class);
  }

  /** Returns the library, if it is there, has the functions, and a card is of its kind. */
  static Optional<Mlx5> of(Libibverbs library, long context) {
    long device =
        NativeMemory.at(context + IbvContext.DEVICE, Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
    return NativeLibrary.load(NAME)
        .map(Mlx5::new)
        .filter(found -> library.hasExtended() && found.isLinked() && found.supports(device));
  }

  private boolean isLinked() {
    return isSupported.isLinked() && createQp.isLinked() && fromExtended.isLinked();
  }

  private boolean supports(long device) {
    // It returns a boolean, which sets the lowest byte alone.
    return (isSupported.invoke(device).value() & BOOLEAN_MASK) != 0;
  }

  /**
   * Creates a queue pair that takes raw requests and all others.
   *
   * @param attributes as any queue pair has, of {@link IbvQpInitAttrEx#BYTES_MAX} bytes
   */
  long createQueuePair(Device device, MemorySegment attributes) {
    attributes.set(ValueLayout.JAVA_INT, IbvQpInitAttrEx.COMP_MASK, IbvQpInitAttrEx.MASK);
    attributes.set(ValueLayout.JAVA_LONG, IbvQpInitAttrEx.PD, device.domain());
    attributes.set(
        ValueLayout.JAVA_LONG, IbvQpInitAttrEx.SEND_OPS_FLAGS, IbvQpInitAttrEx.WITH_WRITE);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment further = arena.allocate(Mlx5dvQpInitAttr.BYTES_MAX, Long.BYTES);
      further.set(ValueLayout.JAVA_LONG, Mlx5dvQpInitAttr.COMP_MASK, Mlx5dvQpInitAttr.MASK);
      // The library knows no raw request whose result came within the completion.
      further.set(
          ValueLayout.JAVA_INT,
          Mlx5dvQpInitAttr.CREATE_FLAGS,
          Mlx5dvQpInitAttr.DISABLE_SCATTER_TO_CQE);
      further.set(
          ValueLayout.JAVA_LONG, Mlx5dvQpInitAttr.SEND_OPS_FLAGS, Mlx5dvQpInitAttr.WITH_RAW_WQE);
      Returned returned =
          createQp.invoke(device.context(), attributes.address(), further.address());
      if (returned.value() == 0) {
        throw new VerbsException(
            "no queue pair for raw requests: card="
                + device.name()
                + ", error="
                + returned.error());
      }
      return returned.value();
    }
  }

  /** Returns what posts raw requests to a queue pair that this has created. */
  RawQueue rawQueue(Libibverbs library, long queuePair) {
    long extended = library.toExtended(queuePair);
    return new RawQueue(extended, fromExtended.invoke(extended).value());
  }
}
