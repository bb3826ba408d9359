package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import pando.fabric.memory.NativeFunction;
import pando.fabric.memory.NativeFunction.Returned;
import pando.fabric.memory.NativeLibrary;
import pando.fabric.memory.NativeMemory;

/**
 * The functions of {@code libibverbs}. What the library makes is named by its address. Functions
 * that return nothing are linked as if they returned a number, which is not read.
 */
final class Libibverbs {
  static final String NAME = "libibverbs.so.1";

  private static final MethodHandle HANDLE = NativeLibrary.criticalHandle();

  private static final int NAME_BYTES_MAX = 64;
  private static final int NO_SUCH_CALL = 38;

  private final NativeFunction getDeviceList;
  private final NativeFunction freeDeviceList;
  private final NativeFunction getDeviceName;
  private final NativeFunction openDevice;
  private final NativeFunction closeDevice;
  private final NativeFunction queryDevice;
  private final NativeFunction queryPort;
  private final NativeFunction allocPd;
  private final NativeFunction deallocPd;
  private final NativeFunction regMr;
  private final NativeFunction deregMr;
  private final NativeFunction createCq;
  private final NativeFunction destroyCq;
  private final NativeFunction createCompChannel;
  private final NativeFunction destroyCompChannel;
  private final NativeFunction getCqEvent;
  private final NativeFunction ackCqEvents;
  private final NativeFunction createSrq;
  private final NativeFunction destroySrq;
  private final NativeFunction createQp;
  private final NativeFunction modifyQp;
  private final NativeFunction destroyQp;

  private Libibverbs(NativeLibrary library) {
    getDeviceList = library.function("ibv_get_device_list", long.class);
    freeDeviceList = library.function("ibv_free_device_list", int.class);
    getDeviceName = library.function("ibv_get_device_name", long.class);
    openDevice = library.function("ibv_open_device", long.class);
    closeDevice = library.function("ibv_close_device", int.class);
    queryDevice = library.function("ibv_query_device", int.class);
    queryPort = library.function("ibv_query_port", int.class);
    allocPd = library.function("ibv_alloc_pd", long.class);
    deallocPd = library.function("ibv_dealloc_pd", int.class);
    regMr = library.function("ibv_reg_mr", long.class);
    deregMr = library.function("ibv_dereg_mr", int.class);
    createCq = library.function("ibv_create_cq", long.class);
    destroyCq = library.function("ibv_destroy_cq", int.class);
    createCompChannel = library.function("ibv_create_comp_channel", long.class);
    destroyCompChannel = library.function("ibv_destroy_comp_channel", int.class);
    getCqEvent = library.function("ibv_get_cq_event", int.class);
    ackCqEvents = library.function("ibv_ack_cq_events", int.class);
    createSrq = library.function("ibv_create_srq", long.class);
    destroySrq = library.function("ibv_destroy_srq", int.class);
    createQp = library.function("ibv_create_qp", long.class);
    modifyQp = library.function("ibv_modify_qp", int.class);
    destroyQp = library.function("ibv_destroy_qp", int.class);
  }

  /**
   * Loads the library.
   *
   * @throws VerbsException if it is not installed, or its offsets are not known for this machine
   */
  static Libibverbs load() {
    if (!Abi.isKnown()) {
      throw new VerbsException(
          "RDMA is known for x86-64 and AArch64 alone: architecture="
              + System.getProperty("os.arch"));
    }
    return new Libibverbs(
        NativeLibrary.load(NAME)
            .orElseThrow(() ->
                new VerbsException(
                    "RDMA needs a library: install the packages libibverbs1 and"
                        + " ibverbs-providers, or rdma-core: library="
                        + NAME)));
  }

  /** What is done with the list of cards. */
  interface DeviceVisitor<R> {
    R visit(long[] devices);
  }

  /** Shows the cards to a visitor, which must not keep their addresses. */
  <R> R withDevices(DeviceVisitor<R> visitor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment count = arena.allocate(ValueLayout.JAVA_INT);
      Returned returned = getDeviceList.invoke(count.address());
      long list = returned.value();
      if (list == 0 && returned.errno() == NO_SUCH_CALL) {
        // A kernel without RDMA.
        return visitor.visit(new long[0]);
      }
      checkPointer(getDeviceList, "cards of this machine", returned);
      try {
        long[] devices = new long[count.get(ValueLayout.JAVA_INT, 0)];
        MemorySegment addresses = NativeMemory.at(list, (long) devices.length * Long.BYTES);
        for (int i = 0; i < devices.length; i++) {
          devices[i] = addresses.getAtIndex(ValueLayout.JAVA_LONG, i);
        }
        return visitor.visit(devices);
      } finally {
        freeDeviceList.invoke(list);
      }
    }
  }

  String deviceName(long device) {
    long name = pointer(getDeviceName, "name of a card", device);
    return NativeMemory.at(name, NAME_BYTES_MAX).getString(0);
  }

  long openDevice(String name, long device) {
    return pointer(openDevice, "open card " + name, device);
  }

  void closeDevice(long context) {
    check(closeDevice, "close a card", context);
  }

  void queryDevice(long context, MemorySegment attributes) {
    check(queryDevice, "what a card can do", context, attributes.address());
  }

  void queryPort(long context, int port, MemorySegment attributes) {
    check(queryPort, "port=" + port, context, port, attributes.address());
  }

  long allocateProtectionDomain(long context) {
    return pointer(allocPd, "protection domain", context);
  }

  void freeProtectionDomain(long domain) {
    check(deallocPd, "free a protection domain", domain);
  }

  /** Registers memory. The limit of locked memory is what refuses most often. */
  long register(long domain, long address, long bytes, int access) {
    Returned returned = regMr.invoke(domain, address, bytes, access);
    if (returned.value() == 0) {
      throw new VerbsException(
          "memory cannot be registered: bytes="
              + bytes
              + ", error="
              + returned.error()
              + "; a card's memory is locked: raise the limit (ulimit -l, LimitMEMLOCK=infinity"
              + " of a systemd unit)");
    }
    return returned.value();
  }

  void deregister(long region) {
    check(deregMr, "deregister memory", region);
  }

  /**
   * Creates a completion queue.
   *
   * @param channel through which a thread gets events of completions, or 0
   */
  long createCompletionQueue(long context, int entries, long channel) {
    String purpose = "completion queue, entries=" + entries;
    return pointer(createCq, purpose, context, entries, 0L, channel, 0);
  }

  void destroyCompletionQueue(long queue) {
    check(destroyCq, "destroy a completion queue", queue);
  }

  long createChannel(long context) {
    return pointer(createCompChannel, "channel of completions", context);
  }

  void destroyChannel(long channel) {
    check(destroyCompChannel, "destroy a channel of completions", channel);
  }

  /** Takes and acknowledges an event, which is there: else it waits for one. */
  void takeEvent(long channel, long queueRoom, long contextRoom, long queue) {
    check(getCqEvent, "take an event", channel, queueRoom, contextRoom);
    ackCqEvents.invoke(queue, 1);
  }

  long createSharedReceives(long domain, MemorySegment attributes) {
    return pointer(createSrq, "shared receive queue", domain, attributes.address());
  }

  void destroySharedReceives(long queue) {
    check(destroySrq, "destroy a shared receive queue", queue);
  }

  long createQueuePair(long domain, MemorySegment attributes) {
    return pointer(createQp, "queue pair", domain, attributes.address());
  }

  void modifyQueuePair(long queuePair, MemorySegment attributes, int mask) {
    String purpose =
        "queue pair to state "
            + attributes.get(ValueLayout.JAVA_INT, Abi.IbvQpAttr.QP_STATE)
            + ", mask=0x"
            + Integer.toHexString(mask);
    check(modifyQp, purpose, queuePair, attributes.address(), mask);
  }

  void destroyQueuePair(long queuePair) {
    check(destroyQp, "destroy a queue pair", queuePair);
  }

  /**
   * Calls a function that returns at once, such as those of an open card that post and poll.
   *
   * @param function its address; it reads as many of the words as it has parameters
   */
  static int call(MemorySegment function, long first, long second, long third) {
    try {
      return (int) HANDLE.invokeExact(function, first, second, third);
    } catch (Throwable e) {
      throw new AssertionError("a native function throws nothing: library=" + NAME, e);
    }
  }

  private static long pointer(NativeFunction function, String purpose, long... arguments) {
    Returned returned = function.invoke(arguments);
    checkPointer(function, purpose, returned);
    return returned.value();
  }

  private static void checkPointer(NativeFunction function, String purpose, Returned returned) {
    if (returned.value() == 0) {
      throw new VerbsException(
          function.name() + " failed: error=" + returned.error() + ", purpose=" + purpose);
    }
  }

  /** These return an error number, some of them -1. */
  private static void check(NativeFunction function, String purpose, long... arguments) {
    Returned returned = function.invoke(arguments);
    if (returned.value() != 0) {
      Returned failed = returned.value() > 0 ? new Returned(-1, (int) returned.value()) : returned;
      throw new VerbsException(
          function.name() + " failed: error=" + failed.error() + ", purpose=" + purpose);
    }
  }
}
