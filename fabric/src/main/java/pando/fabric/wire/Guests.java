package pando.fabric.wire;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Connections of which it is not known yet who they are. There are only so many; where one more
 * comes, the oldest is closed. So peers that connect and say little do not keep others out.
 * Thread-safe.
 */
public final class Guests {
  /** Most at a time. */
  public static final int MAX = 256;

  private final Set<Watchdog.Watched> inOrder = new LinkedHashSet<>();

  /** Adds a connection; returns the one that was closed for it, if any. */
  Watchdog.@Nullable Watched enter(Watchdog.Watched guest) {
    Watchdog.Watched oldest = add(guest);
    if (oldest != null) {
      oldest.close();
    }
    return oldest;
  }

  private synchronized Watchdog.@Nullable Watched add(Watchdog.Watched guest) {
    Watchdog.Watched oldest = null;
    if (inOrder.size() == MAX) {
      Iterator<Watchdog.Watched> first = inOrder.iterator();
      oldest = first.next();
      first.remove();
    }
    inOrder.add(guest);
    return oldest;
  }

  /** Removes a connection, whose client is known, or which has ended. */
  synchronized void leave(Watchdog.Watched guest) {
    inOrder.remove(guest);
  }
}
