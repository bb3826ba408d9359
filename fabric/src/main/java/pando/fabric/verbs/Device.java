package pando.fabric.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import pando.fabric.memory.Closing;
import pando.fabric.memory.NativeMemory;
import pando.fabric.verbs.Abi.IbvContext;
import pando.fabric.verbs.Abi.IbvDeviceAttr;
import pando.fabric.verbs.Abi.IbvPortAttr;

/**
 * A card that is open, its port that is used, and what all of its queue pairs share. Thread-safe.
 */
final class Device implements AutoCloseable {
  /** READs and atomics that a queue pair has under way at most, whatever a card can do. */
  private static final int READS_MAX = 16;

  private static final int PORT = 1;

  /** Bytes of the MTU whose code would be 0. */
  private static final int SMALLEST_MTU = 128;

  private static final int ABI_COMPATIBLE = -1;

  private final Libibverbs library;
  private final String name;
  private final long context;
  private final long domain;
  private final int maxReads;
  private final int maxServedReads;
  private final int maxQueuePairs;
  private final int maxRegions;
  private final int mtu;
  private final int lid;
  private final @Nullable Gid gid;
  private final String firmware;
  private final MemorySegment pollFunction;
  private final MemorySegment askFunction;
  private final MemorySegment postSendFunction;
  private final MemorySegment postReceiveFunction;
  private final MemorySegment postSharedReceiveFunction;

  private Device(Libibverbs library, String name, long context) {
    this.library = library;
    this.name = name;
    this.context = context;
    MemorySegment functions = NativeMemory.at(context, IbvContext.BYTES);
    checkAbi(functions);
    this.pollFunction = function(functions, IbvContext.POLL_CQ);
    this.askFunction = function(functions, IbvContext.REQ_NOTIFY_CQ);
    this.postSendFunction = function(functions, IbvContext.POST_SEND);
    this.postReceiveFunction = function(functions, IbvContext.POST_RECV);
    this.postSharedReceiveFunction = function(functions, IbvContext.POST_SRQ_RECV);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment card = arena.allocate(IbvDeviceAttr.BYTES, Long.BYTES);
      library.queryDevice(context, card);
      this.firmware = card.getString(IbvDeviceAttr.FW_VER);
      this.maxReads = Math.min(READS_MAX, integer(card, IbvDeviceAttr.MAX_QP_INIT_RD_ATOM));
      this.maxServedReads = Math.min(READS_MAX, integer(card, IbvDeviceAttr.MAX_QP_RD_ATOM));
      this.maxQueuePairs = integer(card, IbvDeviceAttr.MAX_QP);
      this.maxRegions = integer(card, IbvDeviceAttr.MAX_MR);
      MemorySegment port = arena.allocate(IbvPortAttr.BYTES_MAX, Long.BYTES);
      library.queryPort(context, PORT, port);
      checkActive(port);
      this.mtu = integer(port, IbvPortAttr.ACTIVE_MTU);
      this.lid = Short.toUnsignedInt(port.get(ValueLayout.JAVA_SHORT, IbvPortAttr.LID));
      boolean ethernet =
          port.get(ValueLayout.JAVA_BYTE, IbvPortAttr.LINK_LAYER) == IbvPortAttr.ETHERNET;
      this.gid = ethernet ? firstGid() : null;
    }
    this.domain = library.allocateProtectionDomain(context);
  }

  /** Returns the names of this machine's cards. */
  static List<String> names() {
    Libibverbs library = Libibverbs.load();
    return library.withDevices(
        devices -> Arrays.stream(devices).mapToObj(library::deviceName).toList());
  }

  /**
   * Opens a card.
   *
   * @throws VerbsException if there is none of this name, or it cannot be used
   */
  static Device open(String name) {
    Libibverbs library = Libibverbs.load();
    long context = library.withDevices(devices -> open(library, name, devices));
    try {
      return new Device(library, name, context);
    } catch (RuntimeException | Error e) {
      library.closeDevice(context);
      throw e;
    }
  }

  private static long open(Libibverbs library, String name, long[] devices) {
    for (long device : devices) {
      if (library.deviceName(device).equals(name)) {
        return library.openDevice(name, device);
      }
    }
    throw new VerbsException(
        "no such card: name="
            + name
            + ", cards="
            + Arrays.stream(devices).mapToObj(library::deviceName).toList());
  }

  /** Returns its name. */
  String name() {
    return name;
  }

  Libibverbs library() {
    return library;
  }

  long context() {
    return context;
  }

  long domain() {
    return domain;
  }

  MemorySegment pollFunction() {
    return pollFunction;
  }

  /** Returns the function that asks for an event at the next completion. */
  MemorySegment askFunction() {
    return askFunction;
  }

  MemorySegment postSendFunction() {
    return postSendFunction;
  }

  MemorySegment postReceiveFunction() {
    return postReceiveFunction;
  }

  MemorySegment postSharedReceiveFunction() {
    return postSharedReceiveFunction;
  }

  int port() {
    return PORT;
  }

  /** Returns the READs and atomics that one of its queue pairs may have under way. */
  int maxReads() {
    return maxReads;
  }

  /** Returns the address of its port on Ethernet, {@code null} on InfiniBand. */
  @Nullable Gid gid() {
    return gid;
  }

  /** Describes it. */
  Cards.Description describe() {
    return new Cards.Description(
        name,
        firmware,
        gid == null ? "LID " + lid : gid.toString(),
        SMALLEST_MTU << mtu,
        maxQueuePairs,
        maxRegions,
        maxReads);
  }

  /** Returns where a queue pair of it is. */
  Endpoint endpoint(int queuePair, int packet) {
    Gid address = gid == null ? new Gid(0, 0, 0) : gid;
    return new Endpoint(queuePair, packet, mtu, maxServedReads, lid, address);
  }

  /** Registers memory, which must outlive the registration. */
  Region register(MemorySegment memory, int access) {
    long address = memory.address();
    long region = library.register(domain, address, memory.byteSize(), access);
    return Region.of(library, region, address);
  }

  @Override
  public void close() {
    Closing.all(() -> library.freeProtectionDomain(domain), () -> library.closeDevice(context));
  }

  private void checkAbi(MemorySegment functions) {
    int compatible = integer(functions, IbvContext.ABI_COMPAT);
    if (compatible != ABI_COMPATIBLE) {
      throw new VerbsException(
          "the library is too old: card="
              + name
              + ", library="
              + Libibverbs.NAME
              + ", found="
              + compatible
              + ", expected="
              + ABI_COMPATIBLE);
    }
  }

  private void checkActive(MemorySegment port) {
    int state = integer(port, IbvPortAttr.STATE);
    if (state != IbvPortAttr.ACTIVE) {
      throw new VerbsException(
          "the card's port is not up: card="
              + name
              + ", port="
              + PORT
              + ", state="
              + state
              + ", needed="
              + IbvPortAttr.ACTIVE);
    }
  }

  private Gid firstGid() {
    List<Gid> gids = Gid.of(name, PORT);
    if (gids.isEmpty()) {
      throw new VerbsException(
          "the card's port has no address of type RoCE v2; give its network interface an IP"
              + " address: card="
              + name
              + ", port="
              + PORT);
    }
    return gids.getFirst();
  }

  private static MemorySegment function(MemorySegment functions, int offset) {
    return MemorySegment.ofAddress(functions.get(ValueLayout.JAVA_LONG, offset));
  }

  private static int integer(MemorySegment struct, int offset) {
    return struct.get(ValueLayout.JAVA_INT, offset);
  }
}
