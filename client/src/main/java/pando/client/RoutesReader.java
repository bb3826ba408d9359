package pando.client;

import java.util.ArrayList;
import java.util.List;
import pando.client.wire.ClientFrame;
import pando.client.wire.FrameReader;
import pando.fabric.wire.FrameException;

/** Reads routes as they came. */
final class RoutesReader {
  private RoutesReader() {}

  /**
   * Reads the open frame.
   *
   * @throws FrameException if they are no routes
   */
  static Routes read(FrameReader from) throws FrameException {
    List<Routes.Route> routes = new ArrayList<>();
    try {
      for (int i = 0; i < from.count(); i++) {
        routes.add(route(from));
      }
      if (from.left() != 0) {
        throw new FrameException("bytes behind the routes: left=" + from.left());
      }
      boolean isPartitioned = from.flags() == ClientFrame.PARTITIONED;
      return new Routes(from.party(), isPartitioned, routes);
    } catch (IllegalArgumentException e) {
      throw new FrameException(String.valueOf(e.getMessage()));
    }
  }

  private static Routes.Route route(FrameReader from) throws FrameException {
    if (from.left() < ClientFrame.ROUTE_BYTES) {
      throw new FrameException("routes that are not there: left=" + from.left());
    }
    long low = from.word(0);
    long word = from.word(8);
    from.skip(ClientFrame.ROUTE_BYTES);
    return new Routes.Route(low, (int) word, from.text((int) (word >>> Integer.SIZE)));
  }
}
