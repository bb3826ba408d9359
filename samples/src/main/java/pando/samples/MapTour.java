package pando.samples;

import java.util.List;
import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** What a map in a pool can do besides storing and finding entries. */
public final class MapTour {
  private MapTour() {}

  /** Stores events by their times, and finds neighbours, ranges, several at once, and a copy. */
  public static void main(String[] args) {
    try (Pando pando = Pando.open("local:");
        PandoMap<Long, String> events = pando.map(KeyCodec.longs(), ValueCodec.strings())) {
      events.put(10L, "opened");
      events.put(20L, "read");
      events.async().put(30L, "closed").join(); // returns at once; here we wait
      System.out.println(events.floorEntry(25L)); // 20=read
      System.out.println(events.tailMap(15L).descendingMap()); // {30=closed, 20=read}
      System.out.println(events.getAll(List.of(10L, 20L, 99L))); // {10=opened, 20=read}
      System.out.println(events.snapshot(events.headMap(25L), 100)); // {10=opened, 20=read}
    }
  }
}
