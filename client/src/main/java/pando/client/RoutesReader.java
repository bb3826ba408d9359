package pando.client;

import java.lang.foreign.MemorySegment;
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
    boolean isPartitioned = (from.flags() & ClientFrame.PARTITIONED) != 0;
    boolean isOfStrings = (from.flags() & ClientFrame.OF_STRINGS) != 0;
    List<Routes.Route> routes = new ArrayList<>();
    try {
      for (int i = 0; i < from.count(); i++) {
        routes.add(route(from, isOfStrings));
      }
      if (from.left() != 0) {
        throw new FrameException("bytes behind the routes: left=" + from.left());
      }
      return new Routes(from.party(), isPartitioned, isOfStrings, routes);
    } catch (IllegalArgumentException e) {
      throw new FrameException(String.valueOf(e.getMessage()));
    }
  }

  private static Routes.Route route(FrameReader from, boolean isOfStrings) throws FrameException {
    if (from.left() < ClientFrame.ROUTE_BYTES) {
      throw new FrameException("routes that are not there: left=" + from.left());
    }
    long low = from.word(0);
    long word = from.word(8);
    from.skip(ClientFrame.ROUTE_BYTES);
    String address = from.text((int) (word >>> Integer.SIZE));
    MemorySegment fence = isOfStrings ? fence(from) : MemorySegment.NULL;
    return new Routes.Route(low, fence, (int) word, address);
  }

  private static MemorySegment fence(FrameReader from) throws FrameException {
    long bytes = from.left() < Long.BYTES ? -1 : from.word(0);
    if (bytes < 0 || bytes > from.left() - Long.BYTES) {
      throw new FrameException(
          "a fence that is not there: bytes=" + bytes + ", left=" + from.left());
    }
    from.skip(Long.BYTES);
    return from.filledBytes((int) bytes);
  }
}
