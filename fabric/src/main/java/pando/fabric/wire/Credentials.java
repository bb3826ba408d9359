package pando.fabric.wire;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** What one side of connections proves itself by, as its files have it now. Thread-safe. */
public final class Credentials {
  private final AuthenticationKind kind;
  private final @Nullable Reloaded<TlsKeys> keys;
  private final @Nullable Reloaded<Secret> secret;

  private Credentials(
      AuthenticationKind kind,
      @Nullable Reloaded<TlsKeys> keys,
      @Nullable Reloaded<Secret> secret) {
    this.kind = kind;
    this.keys = keys;
    this.secret = secret;
  }

  /** Returns those of a side that proves nothing. */
  public static Credentials none() {
    return new Credentials(AuthenticationKind.NONE, null, null);
  }

  /**
   * Reads certificates and keys, see {@link TlsKeys#read}.
   *
   * @param role that this side has
   * @throws IllegalArgumentException if the files are of no use
   */
  public static Credentials tls(Path certificates, Path key, Path authorities, Role role) {
    return new Credentials(
        AuthenticationKind.TLS,
        new Reloaded<>(
            () -> keys(certificates, key, authorities, role), certificates, key, authorities),
        null);
  }

  /**
   * Reads a secret, see {@link Secret#read}.
   *
   * @throws IllegalArgumentException if the file is of no use
   */
  public static Credentials token(Path file) {
    return new Credentials(
        AuthenticationKind.TOKEN, null, new Reloaded<>(() -> Secret.read(file), file));
  }

  private static TlsKeys keys(Path certificates, Path key, Path authorities, Role role) {
    TlsKeys keys = TlsKeys.read(certificates, key, authorities);
    if (keys.identity().role() != role) {
      throw new IllegalArgumentException(
          "a certificate for another role: file="
              + certificates
              + ", identity="
              + keys.identity()
              + ", needed="
              + role);
    }
    return keys;
  }

  /** Returns by what it proves itself. */
  public AuthenticationKind kind() {
    return kind;
  }

  /** Returns the keys, with {@link AuthenticationKind#TLS}. */
  public @Nullable TlsKeys keys() {
    return keys == null ? null : keys.get();
  }

  /** Returns the secret, with {@link AuthenticationKind#TOKEN}. */
  public @Nullable Secret secret() {
    return secret == null ? null : secret.get();
  }
}
