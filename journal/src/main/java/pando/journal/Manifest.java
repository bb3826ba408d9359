package pando.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * What counts in a data folder: a text of less than 64 KiB, which is replaced as a whole.
 *
 * <pre>
 * pando-data 1                                     version of the folder's formats
 * id 5f0c...                                       a UUID, which all its files have
 * kind words                                       or byte-strings
 * codecs strings longs                             of the map without a name; not there before it is
 * cluster 9b2f... generation 7 cut                 whose entries these are; left out if no cluster's
 * sorted 7 0 1a2b3c00 1000000 sha256=...           number, lsns from and to, entries, its footer's sum
 * log-from 1a2b3c00 begun                          what is below is in the sorted files; a segment is there
 * crc32c 9e107d9d                                  of all lines above
 * </pre>
 *
 * <p>Sorted files follow one another without gaps, the oldest first. The first begins with place 0,
 * and is the base: it has no removals. So all changes up to {@code log-from} are in sorted files,
 * and all later ones in the segments of the log that begin there. While it is <em>begun</em>, there
 * is at least one.
 *
 * <p>A file that counts is written under its name and {@value #NEW}, forced, renamed, and its name
 * is forced; only then is it used, or named here. What the manifest does not name any more is
 * removed after that. So after a crash the folder has the old manifest or the new one, and all that
 * it names. Nothing else is ever removed but files ending in {@value #NEW}, sorted files that are
 * not named, and segments below {@code log-from}.
 *
 * @param kind of the index that the folder is of
 * @param codecs their names, one space between them; empty if there are none yet
 * @param cluster whose entries these are; {@link DataFolder#NO_CLUSTER} if it is none's
 * @param generation of the cluster; 0 if it is none's
 * @param isCut whether the log was not closed in order since the generation began: it may lack what
 *     was not forced
 * @param sorted the sorted files, oldest first
 * @param logFrom place where the first segment of the log begins
 * @param hasBegun whether that segment is there
 */
record Manifest(
    UUID id,
    String kind,
    String codecs,
    UUID cluster,
    long generation,
    boolean isCut,
    List<Sorted> sorted,
    long logFrom,
    boolean hasBegun) {
  static final String NAME = "manifest";
  static final String NEW = ".new";

  private static final String FORMAT = "pando-data";
  private static final String VERSION = "1";
  private static final int BYTES_MAX = 64 << 10;
  private static final int HEX = 16;
  private static final String BEGUN = " begun";
  private static final String GENERATION = " generation ";
  private static final String CUT = " cut";

  /**
   * Where the first log begins: behind 0, so that what a load has written before all changes is not
   * empty, and the file behind it no base.
   */
  private static final long FIRST_PLACE = RecordFormat.PAGE;

  /** Keeps a copy. */
  Manifest {
    sorted = List.copyOf(sorted);
  }

  /**
   * A sorted file.
   *
   * @param number of its name
   * @param from place in the log, 0 in a base
   * @param to place in the log behind its changes
   * @param entries removals, too
   * @param sha256 of its bytes in front of the sum, in hexadecimal digits
   */
  record Sorted(int number, long from, long to, long entries, String sha256) {
    static final String PREFIX = "sorted-";

    /** Returns the name of the file. */
    String name() {
      return PREFIX + number;
    }

    /** Returns whether a name is that of a sorted file. */
    static boolean isName(String name) {
      return name.matches(PREFIX + "[0-9]+");
    }

    private String line() {
      return "sorted %d %x %x %d sha256=%s".formatted(number, from, to, entries, sha256);
    }
  }

  /** Returns the manifest of a folder that has no entries. */
  static Manifest ofNewFolder(String kind) {
    return new Manifest(
        UUID.randomUUID(),
        kind,
        "",
        DataFolder.NO_CLUSTER,
        0,
        false,
        List.of(),
        FIRST_PLACE,
        false);
  }

  /** As {@link #ofNewFolder(String)}, with codecs, unless there are none. */
  static Manifest ofNewFolder(String kind, String codecs) {
    Manifest made = ofNewFolder(kind);
    return codecs.isEmpty() ? made : made.withCodecs(codecs);
  }

  /** Returns the greatest number of a sorted file, 0 if there is none. */
  int lastNumber() {
    return sorted.stream().mapToInt(Sorted::number).max().orElse(0);
  }

  /** Returns the place in the log up to which sorted files have its changes. */
  long sortedTo() {
    return sorted.isEmpty() ? 0 : sorted.getLast().to();
  }

  /** Returns this with other sorted files, and the place where the log goes on behind them. */
  Manifest with(List<Sorted> files, long newLogFrom, boolean isThere) {
    return new Manifest(id, kind, codecs, cluster, generation, isCut, files, newLogFrom, isThere);
  }

  /** Returns this with a file of all entries, and without a log. */
  Manifest of(Sorted base) {
    return with(List.of(base), logFrom, false);
  }

  /** Returns this where the first segment of the log is there. */
  Manifest begun() {
    return with(sorted, logFrom, true);
  }

  /**
   * Returns this where the log goes on at another place, if it began before that.
   *
   * @param made file of all between; {@code null} if there is nothing
   * @param isThere whether there is a segment
   */
  Manifest sortedTo(long to, @Nullable Sorted made, boolean isThere) {
    if (to <= logFrom) {
      return this;
    }
    List<Sorted> files = new ArrayList<>(sorted);
    if (made != null) {
      files.add(made);
    }
    return with(files, to, isThere);
  }

  /** Returns where some sorted files, one after the other, are among all; -1 if they are not. */
  int indexOf(List<Sorted> some) {
    return Collections.indexOfSubList(sorted, some);
  }

  /** Returns this with one sorted file in place of some, if all of them are there. */
  Manifest merged(List<Sorted> some, Sorted by) {
    int first = indexOf(some);
    if (first < 0) {
      return this;
    }
    List<Sorted> files = new ArrayList<>(sorted);
    files.subList(first, first + some.size()).clear();
    files.add(first, by);
    return with(files, logFrom, hasBegun);
  }

  /** Returns this with a base in place of all that is before its end. */
  Manifest loaded(Sorted base) {
    return with(List.of(base), Math.max(base.to(), logFrom), hasBegun);
  }

  /**
   * Returns this with codecs.
   *
   * @param names one line, that neither begins nor ends with white space
   */
  Manifest withCodecs(String names) {
    if (names.lines().count() != 1 || !names.equals(names.strip())) {
      throw new IllegalArgumentException(
          "no names of codecs, which are one line without white space around it: codecs="
              + names.replaceAll("\\p{Cntrl}", "?"));
    }
    return new Manifest(id, kind, names, cluster, generation, isCut, sorted, logFrom, hasBegun);
  }

  /** Returns this as that of no cluster. */
  Manifest ofNoCluster() {
    return withGeneration(DataFolder.NO_CLUSTER, 0);
  }

  /** Returns this as that of a generation that begins with its entries. */
  Manifest withGeneration(UUID ofCluster, long next) {
    return new Manifest(id, kind, codecs, ofCluster, next, false, sorted, logFrom, hasBegun);
  }

  /** Returns this where the log was not closed in order, if it is a cluster's. */
  Manifest cut() {
    return new Manifest(
        id, kind, codecs, cluster, generation, generation > 0, sorted, logFrom, hasBegun);
  }

  /**
   * Makes this the manifest of a folder. It is on the disk when this returns.
   *
   * @throws IOException if that fails; also if it is too long, until sorted files are merged
   */
  void store(Disk disk) throws IOException {
    byte[] text = text().getBytes(StandardCharsets.UTF_8);
    if (text.length >= BYTES_MAX) {
      throw new IOException(
          "the manifest is too long, sorted files have to be merged: bytes=%s, files=%s"
              .formatted(text.length, sorted.size()));
    }
    try (DiskFile file = disk.create(NAME + NEW)) {
      file.write(0, ByteBuffer.wrap(text));
      file.force();
    }
    disk.rename(NAME + NEW, NAME);
    disk.force();
  }

  /** Returns the text of the file. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append(FORMAT).append(' ').append(VERSION).append('\n');
    text.append("id ").append(id).append('\n');
    text.append("kind ").append(kind).append('\n');
    if (!codecs.isEmpty()) {
      text.append("codecs ").append(codecs).append('\n');
    }
    if (generation > 0) {
      text.append("cluster ").append(cluster);
      text.append(GENERATION).append(generation).append(isCut ? CUT : "").append('\n');
    }
    sorted.forEach(file -> text.append(file.line()).append('\n'));
    text.append("log-from ").append(Long.toHexString(logFrom));
    text.append(hasBegun ? BEGUN : "").append('\n');
    String sum = sum(text);
    return text.append("crc32c ").append(sum).append('\n').toString();
  }

  private static String sum(CharSequence text) {
    CRC32C crc = new CRC32C();
    crc.update(StandardCharsets.UTF_8.encode(text.toString()));
    return HexFormat.of().toHexDigits((int) crc.getValue());
  }

  /**
   * Reads the manifest of a folder; returns {@code null} if it has none.
   *
   * @throws DamagedFolderException if it is damaged, or of a newer version
   */
  static @Nullable Manifest load(Disk disk) throws IOException {
    if (!disk.list().contains(NAME)) {
      return null;
    }
    try (DiskFile file = disk.open(NAME)) {
      if (file.bytes() >= BYTES_MAX) {
        throw damaged(disk, "bytes=" + file.bytes());
      }
      ByteBuffer bytes = ByteBuffer.allocate((int) file.bytes());
      file.read(0, bytes);
      return parse(disk, StandardCharsets.UTF_8.decode(bytes.flip()).toString());
    }
  }

  private static Manifest parse(Disk disk, String text) {
    String version = text.lines().findFirst().orElse("");
    if (!version.startsWith(FORMAT + " ")) {
      throw damaged(disk, "it does not begin with " + FORMAT);
    }
    int last = text.lastIndexOf("crc32c ");
    if (last < 0 || !text.substring(last).equals("crc32c " + sum(text.substring(0, last)) + "\n")) {
      throw damaged(disk, "its sum is wrong: bytes=" + text.length());
    }
    if (!version.equals(FORMAT + " " + VERSION)) {
      throw DamagedFolderException.ofOtherPando(
          "a newer Pando wrote the manifest: file=%s, folder=%s, version=%s, known=%s"
              .formatted(NAME, disk, version, VERSION));
    }
    try {
      return parse(text.substring(0, last).lines().skip(1).toList());
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw damaged(disk, "a line is none of a manifest: " + e.getMessage());
    }
  }

  private static Manifest parse(List<String> lines) {
    UUID id = null;
    String kind = "";
    String codecs = "";
    UUID cluster = DataFolder.NO_CLUSTER;
    long generation = 0;
    boolean isCut = false;
    List<Sorted> sorted = new ArrayList<>();
    long logFrom = -1;
    boolean hasBegun = false;
    for (String line : lines) {
      int space = line.indexOf(' ');
      String value = line.substring(space + 1);
      switch (line.substring(0, Math.max(space, 0))) {
        case "id" -> id = UUID.fromString(value);
        case "kind" -> kind = value;
        case "codecs" -> codecs = value;
        case "cluster" -> {
          int end = value.indexOf(GENERATION);
          cluster = UUID.fromString(value.substring(0, end));
          isCut = value.endsWith(CUT);
          int behind = value.length() - (isCut ? CUT.length() : 0);
          generation = Long.parseLong(value.substring(end + GENERATION.length(), behind));
        }
        case "sorted" -> sorted.add(sorted(value.split(" ", -1)));
        case "log-from" -> {
          hasBegun = value.endsWith(BEGUN);
          String place = hasBegun ? value.substring(0, value.length() - BEGUN.length()) : value;
          logFrom = Long.parseLong(place, HEX);
        }
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
    long from = 0;
    for (Sorted file : sorted) {
      if (file.from() != from || file.to() <= from) {
        throw new IllegalArgumentException("sorted files have gaps: " + file);
      }
      from = file.to();
    }
    if (id == null || kind.isEmpty() || logFrom < from) {
      throw new IllegalArgumentException("lines are missing: log-from=" + logFrom);
    }
    return new Manifest(id, kind, codecs, cluster, generation, isCut, sorted, logFrom, hasBegun);
  }

  private static Sorted sorted(String[] words) {
    String sum = words[4];
    if (words.length != 5 || !sum.startsWith("sha256=")) {
      throw new IllegalArgumentException("sorted " + String.join(" ", words));
    }
    return new Sorted(
        Integer.parseInt(words[0]),
        Long.parseLong(words[1], HEX),
        Long.parseLong(words[2], HEX),
        Long.parseLong(words[3]),
        sum.substring("sha256=".length()));
  }

  private static DamagedFolderException damaged(Disk disk, String what) {
    return new DamagedFolderException(
        "the manifest is damaged: file=%s, folder=%s, %s".formatted(NAME, disk, what));
  }
}
