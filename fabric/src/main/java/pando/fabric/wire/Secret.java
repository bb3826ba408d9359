package pando.fabric.wire;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * A secret that both sides of a connection have, and prove to have without saying it. Immutable and
 * thread-safe; its text does not contain it.
 */
public final class Secret {
  /** Least bytes of a secret. */
  public static final int BYTES_MIN = 16;

  private static final int BYTES_MAX = 4096;
  private static final String ALGORITHM = "HmacSHA256";
  private static final Set<PosixFilePermission> ALLOWED =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  /** Who proves: a proof of one side is none of the other, so sending it back proves nothing. */
  enum Side {
    CLIENT,
    SERVER
  }

  private final SecretKeySpec key;

  private Secret(byte[] bytes) {
    key = new SecretKeySpec(bytes, ALGORITHM);
  }

  /**
   * Reads a secret from a file; line ends behind it do not count.
   *
   * @throws IllegalArgumentException if it cannot be read, others may read or write it, or it has
   *     less than {@value #BYTES_MIN} or more than 4096 bytes
   */
  public static Secret read(Path file) {
    try {
      Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
      if (!ALLOWED.containsAll(permissions)) {
        throw new IllegalArgumentException(
            "a file with a secret must have mode 0600: file="
                + file
                + ", mode="
                + PosixFilePermissions.toString(permissions));
      }
      long length = Files.size(file);
      if (length > BYTES_MAX) {
        throw new IllegalArgumentException(
            "the secret is too long: file=" + file + ", bytes=" + length + ", most=" + BYTES_MAX);
      }
      return of(file, Files.readAllBytes(file));
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read a secret: " + e, e);
    } catch (UnsupportedOperationException e) {
      throw new IllegalArgumentException(
          "a secret must be where files have modes, as it must be 0600: file=" + file, e);
    }
  }

  private static Secret of(Path file, byte[] content) {
    int length = content.length;
    while (length > 0 && isLineEnd(content[length - 1])) {
      length--;
    }
    if (length < BYTES_MIN) {
      throw new IllegalArgumentException(
          "the secret is too short: file=" + file + ", bytes=" + length + ", least=" + BYTES_MIN);
    }
    return new Secret(Arrays.copyOf(content, length));
  }

  private static boolean isLineEnd(byte character) {
    return character == '\n' || character == '\r';
  }

  /** Returns what proves that a side has this secret, in one connection and role. */
  byte[] proof(
      Side side, Protocol protocol, Role clientRole, byte[] clientNonce, byte[] serverNonce) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      mac.update((protocol.text() + " token " + side + " ").getBytes(StandardCharsets.US_ASCII));
      mac.update((byte) clientRole.code());
      mac.update((byte) protocol.server().code());
      mac.update(clientNonce);
      mac.update(serverNonce);
      return mac.doFinal();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has it: algorithm=" + ALGORITHM, e);
    }
  }

  /** Returns a text without the secret. */
  @Override
  public String toString() {
    return "secret";
  }
}
