package pando.samples;

import pando.map.Pando;
import pando.map.PandoMap;
import pando.map.codec.KeyCodec;
import pando.map.codec.ValueCodec;

/** A map in this process, whose entries are in a data folder as well. */
public final class EmbedMap {
  private EmbedMap() {}

  /** Stores pages by their paths, adds to one, and goes over a range. */
  public static void main(String[] args) {
    try (Pando pando = Pando.open("local:pages"); // a data folder; client:HOST:PORT for a cluster
        PandoMap<String, String> pages = pando.map(KeyCodec.strings(), ValueCodec.strings())) {
      pages.put("/docs", "what it is");
      pages.put("/docs/map", "keys and values of any length");
      pages.merge("/docs", ", in short", String::concat); // atomic
      System.out.println("before /docs/z: " + pages.lowerKey("/docs/z"));
      pages.headMap("/e").forEach((path, page) -> System.out.println(path + ": " + page));
    }
  }
}
