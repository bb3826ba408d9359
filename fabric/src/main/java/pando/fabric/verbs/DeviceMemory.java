package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import pando.fabric.memory.NativeFunction;
import pando.fabric.memory.NativeFunction.Returned;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvAllocDmAttr;
import pando.fabric.verbs.Abi.IbvDeviceAttrEx;
import pando.fabric.verbs.Abi.IbvDm;
import pando.fabric.verbs.Abi.IbvMr;
import pando.fabric.verbs.Abi.VerbsContext;

/**
 * Memory of a card itself, which verbs alone reach. It is registered, and its first byte has the
 * address 0.
 */
final class DeviceMemory implements AutoCloseable {
  /** Begins at lines. */
  private static final int LOG_ALIGNMENT = 6;

  private final Region region;
  private final NativeFunction free;
  private final long memory;

  private DeviceMemory(Region region, NativeFunction free, long memory) {
    this.region = region;
    this.free = free;
    this.memory = memory;
  }

  /** Returns the most bytes that a card has for it; 0 if it has none, or nothing says. */
  static long bytesMax(Extensions extensions) {
    Optional<NativeFunction> query =
        extensions.function("query_device_ex", VerbsContext.QUERY_DEVICE_EX, int.class);
    if (query.isEmpty()) {
      return 0;
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment found = arena.allocate(IbvDeviceAttrEx.BYTES_MAX, Long.BYTES);
      Returned returned =
          query.get().invoke(extensions.context(), 0, found.address(), IbvDeviceAttrEx.BYTES_MAX);
      return returned.value() == 0
          ? found.get(ValueLayout.JAVA_LONG, IbvDeviceAttrEx.MAX_DM_SIZE)
          : 0;
    }
  }

  /** The functions that make it. */
  private record Functions(NativeFunction alloc, NativeFunction free, NativeFunction register) {
    /** Returns them, if all are there. */
    static Optional<Functions> of(Extensions extensions) {
      Optional<NativeFunction> alloc =
          extensions.function("alloc_dm", VerbsContext.ALLOC_DM, long.class);
      Optional<NativeFunction> free =
          extensions.function("free_dm", VerbsContext.FREE_DM, int.class);
      Optional<NativeFunction> register =
          extensions.function("reg_dm_mr", VerbsContext.REG_DM_MR, long.class);
      return alloc.isPresent() && free.isPresent() && register.isPresent()
          ? Optional.of(new Functions(alloc.get(), free.get(), register.get()))
          : Optional.empty();
    }
  }

  /** Allocates zeroed memory, if the card has as much. */
  static Optional<DeviceMemory> allocate(Device device, int bytes) {
    return device.deviceMemoryBytes() < bytes
        ? Optional.empty()
        : Functions.of(device.extensions()).flatMap(with -> allocate(with, device, bytes));
  }

  private static Optional<DeviceMemory> allocate(Functions with, Device device, int bytes) {
    long memory = allocate(with.alloc, device.context(), bytes);
    if (memory == 0) {
      return Optional.empty();
    }
    long registered = 0;
    try {
      registered = clear(memory, bytes) ? register(with.register, device, memory, bytes) : 0;
    } finally {
      if (registered == 0) {
        free(with.free, memory);
      }
    }
    return registered == 0
        ? Optional.empty()
        : Optional.of(
            new DeviceMemory(Region.of(device.library(), registered, 0), with.free, memory));
  }

  private static long allocate(NativeFunction alloc, long context, int bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(IbvAllocDmAttr.BYTES, Long.BYTES);
      attributes.set(ValueLayout.JAVA_LONG, IbvAllocDmAttr.LENGTH, bytes);
      attributes.set(ValueLayout.JAVA_INT, IbvAllocDmAttr.LOG_ALIGN_REQ, LOG_ALIGNMENT);
      return alloc.invoke(context, attributes.address()).value();
    }
  }

  private static long register(NativeFunction register, Device device, long memory, int bytes) {
    int access = IbvMr.ALL_ACCESS | IbvMr.ZERO_BASED;
    return register.invoke(device.domain(), memory, 0, bytes, access).value();
  }

  /** Returns whether the card has taken the zeros. */
  private static boolean clear(long memory, int bytes) {
    long function =
        NativeMemory.at(memory + IbvDm.MEMCPY_TO_DM, Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
    if (function == 0) {
      return false;
    }
    NativeFunction copy = NativeFunction.at("memcpy_to_dm", function, int.class);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment zeros = arena.allocate(bytes, Long.BYTES);
      return copy.invoke(memory, 0, zeros.address(), bytes).value() == 0;
    }
  }

  private static void free(NativeFunction free, long memory) {
    Returned returned = free.invoke(memory);
    if (returned.value() != 0) {
      throw new VerbsException(
          "memory of the card cannot be freed: result="
              + returned.value()
              + ", error="
              + returned.error());
    }
  }

  /** Returns by what verbs reach it. */
  Region region() {
    return region;
  }

  /** No verb is under way to it. It is not freed where it stays registered. */
  @Override
  public void close() {
    region.close();
    free(free, memory);
  }
}
