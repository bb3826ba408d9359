package pando.cli.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;

/** Where servers run: on this machine, or on those that {@code testbed/network} makes. */
enum Machines {
  /** All on loopback addresses of this machine. */
  ONE {
    @Override
    List<String> command(int machine) {
      return List.of();
    }

    @Override
    String address(int machine) {
      return "127.0.0.1";
    }

    @Override
    int port(int server) {
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  },

  /** Three, as network namespaces, with delay and loss between them. */
  THREE {
    @Override
    List<String> command(int machine) {
      return List.of("ip", "netns", "exec", "pando" + number(machine));
    }

    @Override
    String address(int machine) {
      return "10.98.0." + number(machine);
    }

    @Override
    int port(int server) {
      return PORT + server;
    }

    private static int number(int machine) {
      return machine % 3 + 1;
    }
  };

  private static final int PORT = 7_400;

  /** Returns how a command begins that runs on a machine. */
  abstract List<String> command(int machine);

  /** Returns the address of a machine. */
  abstract String address(int machine);

  /** Returns a port for a server, by its place among all of them. */
  abstract int port(int server);
}
