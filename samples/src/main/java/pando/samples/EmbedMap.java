package pando.samples;

import java.time.LocalDate;
import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;

/** A map whose memory servers are in this process. */
public final class EmbedMap {
  private EmbedMap() {}

  /** Counts visits by day, finds the latest before a day, and goes over a range backwards. */
  public static void main(String[] args) {
    try (Pando pando = Pando.open("local:"); // or shm:NAME, memory servers on this machine
        PandoMap<LocalDate, Long> visits = pando.map(KeyCodec.localDates(), KeyCodec.longs())) {
      LocalDate day = LocalDate.of(2026, 3, 1);
      visits.put(day, 7L);
      visits.merge(day, 1L, Long::sum); // atomic
      visits.put(day.plusDays(2), 5L);
      visits.put(day.plusDays(9), 3L);
      System.out.println("before March 10: " + visits.lowerEntry(day.plusDays(9)));
      visits
          .subMap(day, day.plusDays(7))
          .descendingMap()
          .forEach((date, count) -> System.out.println(date + ": " + count));
    }
  }
}
