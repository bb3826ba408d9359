package pando.door.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** A client that sends any bytes, and shows replies as text. */
final class RawClient implements AutoCloseable {
  static final int TIMEOUT_MILLIS = 30_000;

  private final Socket socket = new Socket();
  private final InputStream in;
  private final StringBuilder frame = new StringBuilder();
  private final StringBuilder shape = new StringBuilder();

  RawClient(InetSocketAddress address) throws IOException {
    this(address, 0);
  }

  /** Connects; with a small buffer for what it does not read, unless that is 0. */
  RawClient(InetSocketAddress address, int receiveBytes) throws IOException {
    if (receiveBytes > 0) {
      socket.setReceiveBufferSize(receiveBytes);
    }
    socket.connect(address, TIMEOUT_MILLIS);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  Socket socket() {
    return socket;
  }

  void send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
  }

  void send(String text) throws IOException {
    send(text.getBytes(ISO_8859_1));
  }

  /** Returns a request as bytes. */
  static byte[] request(String... arguments) {
    StringBuilder text = new StringBuilder("*" + arguments.length + "\r\n");
    for (String argument : arguments) {
      text.append('$').append(argument.length()).append("\r\n").append(argument).append("\r\n");
    }
    return text.toString().getBytes(ISO_8859_1);
  }

  String ask(String... arguments) throws IOException {
    send(request(arguments));
    return reply();
  }

  /**
   * Returns the next reply: strings as they are, a number behind {@code :}, a double behind {@code
   * ,}, an error behind {@code -}, a line behind {@code +}, arrays in brackets, maps in braces,
   * {@code nil}.
   */
  String reply() throws IOException {
    String line = line();
    char mark = line.charAt(0);
    int length = "$=*%".indexOf(mark) < 0 ? 0 : Integer.parseInt(line.substring(1));
    shape.append(mark);
    if (mark == '_' || length < 0) {
      return "nil";
    }
    return switch (mark) {
      case '$' -> string(length);
      case '=' -> string(length).substring("txt:".length());
      case '*' -> all(length).toString();
      case '%' -> "{" + String.join(", ", all(2 * length)) + "}";
      default -> line;
    };
  }

  private String string(int length) throws IOException {
    byte[] bytes = in.readNBytes(length + 2);
    if (bytes.length < length + 2) {
      throw new EOFException("the connection ended in a string");
    }
    String string = new String(bytes, 0, length, ISO_8859_1);
    frame.append(string).append("\r\n");
    return string;
  }

  private List<String> all(int length) throws IOException {
    List<String> all = new ArrayList<>();
    shape.append(length).append('(');
    for (int i = 0; i < length; i++) {
      all.add(reply());
    }
    shape.append(')');
    return all;
  }

  /** Returns the next reply with all of its bytes. */
  String frame() throws IOException {
    frame.setLength(0);
    reply();
    return frame.toString();
  }

  /** Returns of what kinds the next reply and its elements are. */
  String shape() throws IOException {
    shape.setLength(0);
    reply();
    return shape.toString();
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    int next = in.read();
    while (next != '\n') {
      if (next < 0) {
        throw new EOFException("the connection ended behind: " + line);
      }
      if (next != '\r') {
        line.append((char) next);
      }
      next = in.read();
    }
    frame.append(line).append("\r\n");
    return line.toString();
  }

  /** Returns whether the server ends the connection, after replies that are left out. */
  boolean ends() throws IOException {
    try {
      while (in.read() >= 0) {}
      return true;
    } catch (java.net.SocketException reset) {
      return true;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
