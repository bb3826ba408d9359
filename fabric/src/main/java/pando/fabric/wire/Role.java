package pando.fabric.wire;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a process is in a cluster, and so what it may ask for. */
public enum Role {
  /** Holds memory, and serves verbs. */
  MEMORY(1),
  /** Sends verbs. */
  COMPUTE(2),
  /** Changes the cluster, and asks how it is. */
  ADMIN(3),
  /** Sends operations to compute servers. */
  CLIENT(4);

  private final int code;

  Role(int code) {
    this.code = code;
  }

  /** Returns the role with a number on the wire, or {@code null} if there is none. */
  static @Nullable Role of(int code) {
    for (Role role : values()) {
      if (role.code == code) {
        return role;
      }
    }
    return null;
  }

  /** Returns the number on the wire; 0 is none. */
  int code() {
    return code;
  }

  /** Returns the name as certificates have it. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
