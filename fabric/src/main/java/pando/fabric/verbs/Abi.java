package pando.fabric.verbs;

/**
 * Where fields are in the structs of {@code libibverbs}, in bytes, and the values of its constants.
 *
 * <p>They belong to the library's binary interface: no field that is named here has moved between
 * its versions 13 and 64; structs only grew at their ends. Both architectures agree but for what
 * stands behind a {@code pthread_mutex_t}. Each class is named as the struct of the library.
 */
final class Abi {
  private static final String ARCHITECTURE = System.getProperty("os.arch", "");

  /** Bytes of a {@code pthread_mutex_t} beyond those of x86-64. */
  private static final int FURTHER_MUTEX_BYTES = ARCHITECTURE.equals("aarch64") ? 8 : 0;

  private Abi() {}

  /** Returns whether the offsets are those of this machine's architecture. */
  static boolean isKnown() {
    return ARCHITECTURE.equals("amd64") || ARCHITECTURE.equals("aarch64");
  }

  /** A verb to be posted. */
  static final class IbvSendWr {
    static final int BYTES = 128;
    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;
    static final int OPCODE = 28;
    static final int SEND_FLAGS = 32;
    static final int IMM_DATA = 36;
    static final int RDMA_REMOTE_ADDR = 40;
    static final int RDMA_RKEY = 48;
    static final int ATOMIC_REMOTE_ADDR = 40;
    static final int ATOMIC_COMPARE_ADD = 48;
    static final int ATOMIC_SWAP = 56;
    static final int ATOMIC_RKEY = 64;

    static final int WRITE = 0;
    static final int SEND_WITH_IMM = 3;
    static final int READ = 4;
    static final int COMPARE_AND_SWAP = 5;
    static final int FETCH_AND_ADD = 6;

    static final int FENCE = 1;
    static final int SIGNALED = 2;
    static final int INLINE = 8;

    private IbvSendWr() {}
  }

  /** A message to be received. */
  static final class IbvRecvWr {
    static final int BYTES = 32;
    static final int WR_ID = 0;
    static final int NEXT = 8;
    static final int SG_LIST = 16;
    static final int NUM_SGE = 24;

    private IbvRecvWr() {}
  }

  /** A range of registered memory. */
  static final class IbvSge {
    static final int BYTES = 16;
    static final int ADDR = 0;
    static final int LENGTH = 8;
    static final int LKEY = 12;

    private IbvSge() {}
  }

  /** A verb that is complete. */
  static final class IbvWc {
    static final int BYTES = 48;
    static final int WR_ID = 0;
    static final int STATUS = 8;
    static final int OPCODE = 12;
    static final int BYTE_LEN = 20;
    static final int IMM_DATA = 24;
    static final int QP_NUM = 28;

    static final int RECV = 128;

    private IbvWc() {}
  }

  /** What a queue pair is made of. */
  static final class IbvQpInitAttr {
    static final int BYTES = 64;
    static final int SEND_CQ = 8;
    static final int RECV_CQ = 16;
    static final int SRQ = 24;
    static final int MAX_SEND_WR = 32;
    static final int MAX_RECV_WR = 36;
    static final int MAX_SEND_SGE = 40;
    static final int MAX_RECV_SGE = 44;
    static final int MAX_INLINE_DATA = 48;
    static final int QP_TYPE = 52;

    /** The type of a queue pair whose verbs are reliable, and go to one other. */
    static final int RELIABLE_CONNECTION = 2;

    private IbvQpInitAttr() {}
  }

  /** The state of a queue pair, and all that belongs to a step into the next. */
  static final class IbvQpAttr {
    static final int BYTES = 144;
    static final int QP_STATE = 0;
    static final int PATH_MTU = 8;
    static final int RQ_PSN = 20;
    static final int SQ_PSN = 24;
    static final int DEST_QP_NUM = 28;
    static final int QP_ACCESS_FLAGS = 32;
    static final int DGID = 56;
    static final int SGID_INDEX = 76;
    static final int HOP_LIMIT = 77;
    static final int DLID = 80;
    static final int IS_GLOBAL = 85;
    static final int AH_PORT_NUM = 86;
    static final int PKEY_INDEX = 120;
    static final int MAX_RD_ATOMIC = 126;
    static final int MAX_DEST_RD_ATOMIC = 127;
    static final int MIN_RNR_TIMER = 128;
    static final int PORT_NUM = 129;
    static final int TIMEOUT = 130;
    static final int RETRY_CNT = 131;
    static final int RNR_RETRY = 132;

    static final int INIT = 1;
    static final int READY_TO_RECEIVE = 2;
    static final int READY_TO_SEND = 3;
    static final int ERROR = 6;

    /** Which fields the step to {@link #INIT} has: state, access, key's index, port. */
    static final int INIT_MASK = 0x39;

    /** Of the step to {@link #READY_TO_RECEIVE}: path, other queue pair, numbers, timer. */
    static final int READY_TO_RECEIVE_MASK = 0x12_9181;

    /** Of the step to {@link #READY_TO_SEND}: times, retries, number. */
    static final int READY_TO_SEND_MASK = 0x1_2e01;

    /** Of the step to {@link #ERROR}: the state. */
    static final int ERROR_MASK = 1;

    private IbvQpAttr() {}
  }

  /** A queue pair. */
  static final class IbvQp {
    static final int QP_NUM = 52;

    private IbvQp() {}
  }

  /** Memory that is registered. */
  static final class IbvMr {
    static final int LKEY = 36;
    static final int RKEY = 40;

    /** Local verbs may write. */
    static final int LOCAL_WRITE = 1;

    /** All verbs of others. */
    static final int ALL_ACCESS = 0xf;

    private IbvMr() {}
  }

  /** What a card can do. */
  static final class IbvDeviceAttr {
    static final int BYTES = 232;
    static final int FW_VER = 0;
    static final int MAX_QP = 108;
    static final int MAX_MR = 136;
    static final int MAX_QP_RD_ATOM = 144;
    static final int MAX_QP_INIT_RD_ATOM = 156;

    private IbvDeviceAttr() {}
  }

  /** A port of a card. Of the library's function, the first 48 bytes at least are filled. */
  static final class IbvPortAttr {
    static final int BYTES_MAX = 128;
    static final int STATE = 0;
    static final int ACTIVE_MTU = 8;
    static final int LID = 34;
    static final int LINK_LAYER = 46;

    static final int ACTIVE = 4;
    static final int ETHERNET = 2;

    private IbvPortAttr() {}
  }

  /** What a queue of messages, which queue pairs share, is made of. */
  static final class IbvSrqInitAttr {
    static final int BYTES = 24;
    static final int MAX_WR = 8;
    static final int MAX_SGE = 12;

    private IbvSrqInitAttr() {}
  }

  /** Where a thread waits for events of completions. */
  static final class IbvCompChannel {
    static final int FD = 8;

    private IbvCompChannel() {}
  }

  /** A card that is open. Its functions are pointers in it. */
  static final class IbvContext {
    static final int BYTES = 328 + FURTHER_MUTEX_BYTES;
    static final int POLL_CQ = 96;
    static final int REQ_NOTIFY_CQ = 104;
    static final int POST_SRQ_RECV = 168;
    static final int POST_SEND = 208;
    static final int POST_RECV = 216;
    static final int ABI_COMPAT = 320 + FURTHER_MUTEX_BYTES;

    private IbvContext() {}
  }
}
