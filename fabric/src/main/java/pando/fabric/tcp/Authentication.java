package pando.fabric.tcp;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import pando.fabric.wire.Credentials;
import pando.fabric.wire.Role;

/**
 * How compute servers and memory servers prove to each other who they are. Both sides need the same
 * kind. Files are read at the start, and anew for later connections when they have changed; what is
 * wrong then is logged, and the earlier content stays in use.
 */
public sealed interface Authentication {
  /** No authentication: on loopback addresses alone, for all users of the machine. */
  static Authentication none() {
    return new None();
  }

  /**
   * TLS 1.3 with certificates on both sides; all is encrypted. A certificate has the subject
   * alternative name {@code pando://CLUSTER/ROLE/NAME} (a URI), with the role {@code memory} for a
   * memory server and {@code compute} for a compute server, and each side accepts only the other
   * role of its own cluster.
   *
   * @param certificates certificates in PEM, that of this process first, then those between it and
   *     the authority
   * @param key its private key in PEM: PKCS #8, not encrypted
   * @param authorities certificates in PEM that are trusted to sign those of others
   */
  static Authentication tls(Path certificates, Path key, Path authorities) {
    return new Tls(certificates, key, authorities);
  }

  /**
   * A secret that both sides have. It proves who connects, and encrypts nothing; so it is for
   * loopback addresses, unless {@link Token#onTrustedNetwork} says otherwise. The holder of the
   * secret may take any role.
   *
   * @param file has the secret, 16 bytes to 4 KiB, better random; with mode 0600
   */
  static Token token(Path file) {
    return new Token(file, false);
  }

  /**
   * Reads the files that are needed.
   *
   * @param role that this side has
   * @throws IllegalArgumentException if they are of no use
   */
  @SuppressWarnings("exports") // For Pando's modules alone.
  default Credentials credentials(Role role) {
    return switch (this) {
      case None() -> Credentials.none();
      case Tls tls -> Credentials.tls(tls.certificates, tls.key, tls.authorities, role);
      case Token token -> Credentials.token(token.file);
    };
  }

  /**
   * Checks that an address may be used.
   *
   * @throws IllegalArgumentException if there is none, or it is beyond loopback and this too weak
   */
  default void checkAddress(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("no such host: address=" + address);
    }
    boolean isSafe =
        switch (this) {
          case None() -> false;
          case Tls _ -> true;
          case Token token -> token.trustedNetwork;
        };
    if (!isSafe && !address.getAddress().isLoopbackAddress()) {
      throw new IllegalArgumentException(
          "without TLS only loopback addresses, such as 127.0.0.1, or a token on a network that is"
              + " declared trusted: address="
              + address);
    }
  }

  /** None; see {@link Authentication#none}. */
  record None() implements Authentication {}

  /** By certificates; see {@link Authentication#tls}. */
  record Tls(Path certificates, Path key, Path authorities) implements Authentication {}

  /**
   * By a secret; see {@link Authentication#token}.
   *
   * @param trustedNetwork whether it may be used beyond loopback addresses
   */
  record Token(Path file, boolean trustedNetwork) implements Authentication {
    /**
     * Returns the same for any network. All who can read or change what goes over it can read or
     * change the pool, as nothing is encrypted.
     */
    public Token onTrustedNetwork() {
      return new Token(file, true);
    }
  }
}
