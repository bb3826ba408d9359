package pando.index.settings;

import java.util.Collection;
import java.util.stream.Collectors;

/** Names that a user may have meant by one that is unknown. */
public final class DidYouMean {
  private static final int NAMES_MAX = 3;

  private DidYouMean() {}

  /**
   * Returns what to add to a complaint about a name: {@code , did you mean A or B?} with the known
   * names that are nearest to it, at most three; nothing if none is near, or it is one of them.
   */
  public static String suggest(String typed, Collection<String> known) {
    int least =
        known.stream().mapToInt(name -> distance(typed, name)).min().orElse(Integer.MAX_VALUE);
    if (least == 0 || least > Math.max(1, typed.length() / 3)) {
      return "";
    }
    return known.stream()
        .filter(name -> distance(typed, name) == least)
        .limit(NAMES_MAX)
        .collect(Collectors.joining(" or ", ", did you mean ", "?"));
  }

  /**
   * Returns how many letters are to be inserted, removed, replaced, or swapped with their
   * neighbour; 1 for the beginning of a name.
   */
  private static int distance(String typed, String name) {
    if (typed.length() > 2 && name.startsWith(typed)) {
      return 1;
    }
    int[][] cost = new int[typed.length() + 1][name.length() + 1];
    for (int i = 0; i <= typed.length(); i++) {
      for (int j = 0; j <= name.length(); j++) {
        if (i == 0 || j == 0) {
          cost[i][j] = i + j;
          continue;
        }
        boolean isSame = typed.charAt(i - 1) == name.charAt(j - 1);
        int replaced = cost[i - 1][j - 1] + (isSame ? 0 : 1);
        cost[i][j] = Math.min(replaced, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
        boolean isSwapped =
            i > 1
                && j > 1
                && typed.charAt(i - 1) == name.charAt(j - 2)
                && typed.charAt(i - 2) == name.charAt(j - 1);
        if (isSwapped) {
          cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
      }
    }
    return cost[typed.length()][name.length()];
  }
}
