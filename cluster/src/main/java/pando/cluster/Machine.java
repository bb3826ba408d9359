package pando.cluster;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import pando.index.Unwritten;

/** What a server says of the machine that it runs on. */
final class Machine {
  private static final int NAME_MAX = 255;

  /** The name of this machine. */
  static final String NAME = name();

  private Machine() {}

  /** Returns a member that starts in this process. */
  static Member member(int number, long epoch, String address) {
    return new Member(
        number,
        epoch,
        address,
        ProcessHandle.current().pid(),
        NAME,
        ServerState.JOINING,
        0,
        Unwritten.NONE);
  }

  /**
   * Checks that others can use an address.
   *
   * @throws IllegalArgumentException if it stands for all addresses of this machine, or for none
   */
  static void checkReachable(InetSocketAddress address) {
    if (address.isUnresolved() || address.getAddress().isAnyLocalAddress()) {
      throw new IllegalArgumentException(
          "others cannot connect to this address; name one of the machine's: address=" + address);
    }
  }

  /** Returns an address as it is written in the coordinator. */
  static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /** Reads an address from the coordinator. */
  static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    try {
      return new InetSocketAddress(
          InetAddress.getByName(text.substring(0, colon)),
          Integer.parseInt(text.substring(colon + 1)));
    } catch (UnknownHostException | NumberFormatException | StringIndexOutOfBoundsException e) {
      throw new MalformedEntryException("not an address: text=" + text);
    }
  }

  private static String name() {
    try {
      String name = InetAddress.getLocalHost().getHostName();
      return name.substring(0, Math.min(name.length(), NAME_MAX));
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }
}
