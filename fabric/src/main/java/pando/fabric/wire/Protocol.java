package pando.fabric.wire;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** What is spoken on a connection, and so who its server is. */
public enum Protocol {
  /** Verbs, of compute servers to memory servers. */
  VERBS("PANDO-T1", Role.MEMORY, "memory server"),
  /** Operations, of clients to compute servers. */
  OPERATIONS("PANDO-C1", Role.COMPUTE, "compute server");

  private final String text;
  private final long magic;
  private final Role server;
  private final String serverName;

  Protocol(String text, Role server, String serverName) {
    this.text = text;
    this.server = server;
    this.serverName = serverName;
    this.magic =
        ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII))
            .order(ByteOrder.LITTLE_ENDIAN)
            .getLong();
  }

  /** Returns the 8 letters that a connection begins with. */
  String text() {
    return text;
  }

  /** Returns these letters as a word, little endian. */
  long magic() {
    return magic;
  }

  /** Returns the role of its servers. */
  public Role server() {
    return server;
  }

  /** Returns what its servers are called in messages. */
  public String serverName() {
    return serverName;
  }
}
