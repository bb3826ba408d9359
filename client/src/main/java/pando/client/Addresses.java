package pando.client;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;

/** Addresses as HOST:PORT; a host may be an IPv6 address in brackets. */
final class Addresses {
  private static final int PORT_MAX = 65_535;

  private Addresses() {}

  /**
   * Returns addresses that stand with commas between.
   *
   * @throws IllegalArgumentException if one is none
   */
  static List<String> list(String addresses) {
    List<String> list = List.of(addresses.split(",", -1));
    list.forEach(Addresses::unresolved);
    return list;
  }

  /**
   * Returns an address that is looked up.
   *
   * @throws UnknownHostException if there is no such host
   */
  static InetSocketAddress resolved(String address) throws UnknownHostException {
    InetSocketAddress unresolved = unresolved(address);
    InetSocketAddress resolved =
        new InetSocketAddress(unresolved.getHostString(), unresolved.getPort());
    if (resolved.isUnresolved()) {
      throw new UnknownHostException("no such host: address=" + address);
    }
    return resolved;
  }

  private static InetSocketAddress unresolved(String address) {
    int colon = address.lastIndexOf(':');
    String host = colon < 0 ? "" : address.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port = port(address.substring(colon + 1));
    if (host.isEmpty() || port < 1) {
      throw new IllegalArgumentException("an address is HOST:PORT: address=" + address);
    }
    return InetSocketAddress.createUnresolved(host, port);
  }

  private static int port(String text) {
    boolean isNumber = text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= PORT_MAX;
    return isNumber ? Integer.parseInt(text) : -1;
  }
}
