package pando.cluster;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a cluster is: {@code HOST:PORT,HOST:PORT/NAME}.
 *
 * @param coordinator addresses of the coordinator
 * @param name of the cluster: 1 to 64 letters, digits, hyphens and underscores
 */
public record ClusterAddress(String coordinator, String name) {
  private static final Pattern FORM =
      Pattern.compile("([^/\\s]+:\\d{1,5}(?:,[^/,\\s]+:\\d{1,5})*)/([A-Za-z0-9_-]{1,64})");

  /**
   * Reads an address.
   *
   * @throws IllegalArgumentException if the text is none
   */
  public static ClusterAddress parse(String text) {
    Matcher matcher = FORM.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "not the address of a cluster, such as 10.0.0.1:2181/grove: address=" + text);
    }
    return new ClusterAddress(matcher.group(1), matcher.group(2));
  }

  @Override
  public String toString() {
    return coordinator + "/" + name;
  }
}
