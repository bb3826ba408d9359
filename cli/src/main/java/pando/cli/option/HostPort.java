package pando.cli.option;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads where a server listens: a host and a port, such as 127.0.0.1:7460. */
public final class HostPort implements ITypeConverter<InetSocketAddress> {
  private static final Pattern FORM = Pattern.compile("(.+):(\\d{1,5})");
  private static final int PORT_MAX = (1 << 16) - 1;

  @Override
  public InetSocketAddress convert(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > PORT_MAX) {
      throw new TypeConversionException("'" + text + "' is not HOST:PORT");
    }
    try {
      InetAddress host = InetAddress.getByName(matcher.group(1));
      return new InetSocketAddress(host, Integer.parseInt(matcher.group(2)));
    } catch (UnknownHostException e) {
      throw new TypeConversionException("'" + text + "' names no known host");
    }
  }

  /** Returns the text that reads as an address. */
  public static String text(InetSocketAddress address) {
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }
}
