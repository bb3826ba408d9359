package pando.fabric.tcp;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import pando.fabric.wire.AuthenticationKind;
import pando.fabric.wire.Role;
import pando.fabric.wire.Secret;
import pando.fabric.wire.TlsKeys;

/** What one side of connections proves itself by, as its files have it now. Thread-safe. */
final class Credentials {
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

  /**
   * Reads the files that are needed.
   *
   * @param role that this side has
   * @throws IllegalArgumentException if they are of no use
   */
  static Credentials of(Authentication authentication, Role role) {
    return switch (authentication) {
      case Authentication.None() -> new Credentials(AuthenticationKind.NONE, null, null);
      case Authentication.Tls tls ->
          new Credentials(
              AuthenticationKind.TLS,
              new Reloaded<>(
                  () -> keys(tls, role), tls.certificates(), tls.key(), tls.authorities()),
              null);
      case Authentication.Token token ->
          new Credentials(
              AuthenticationKind.TOKEN,
              null,
              new Reloaded<>(() -> Secret.read(token.file()), token.file()));
    };
  }

  private static TlsKeys keys(Authentication.Tls tls, Role role) {
    TlsKeys keys = TlsKeys.read(tls.certificates(), tls.key(), tls.authorities());
    if (keys.identity().role() != role) {
      throw new IllegalArgumentException(
          "a certificate for another role: file="
              + tls.certificates()
              + ", identity="
              + keys.identity()
              + ", needed="
              + role);
    }
    return keys;
  }

  /**
   * Checks that an address may be used.
   *
   * @throws IllegalArgumentException if it is beyond loopback and the authentication too weak
   */
  static void checkAddress(Authentication authentication, InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("no such host: address=" + address);
    }
    boolean isSafe =
        switch (authentication) {
          case Authentication.None() -> false;
          case Authentication.Tls _ -> true;
          case Authentication.Token token -> token.trustedNetwork();
        };
    if (!isSafe && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "without TLS only loopback addresses, such as 127.0.0.1, or a token on a network that is"
              + " declared trusted: address="
              + address);
    }
  }

  AuthenticationKind kind() {
    return kind;
  }

  /** Returns the keys, with {@link AuthenticationKind#TLS}. */
  @Nullable TlsKeys keys() {
    return keys == null ? null : keys.get();
  }

  /** Returns the secret, with {@link AuthenticationKind#TOKEN}. */
  @Nullable Secret secret() {
    return secret == null ? null : secret.get();
  }
}
