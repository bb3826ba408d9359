package pando.door.resp;

import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Addresses as text. */
final class AddressText {
  private AddressText() {}

  /** Returns an address with its port, IPv6 in brackets. */
  static String text(SocketAddress address) {
    if (!(address instanceof InetSocketAddress its) || its.getAddress() == null) {
      return String.valueOf(address);
    }
    String host = its.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + its.getPort();
  }
}
