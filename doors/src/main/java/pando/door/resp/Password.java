package pando.door.resp;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/** A password, of which only a digest is kept. Immutable. */
public final class Password {
  private final byte[] digest;

  private Password(byte[] digest) {
    this.digest = digest;
  }

  /**
   * Returns a password.
   *
   * @throws IllegalArgumentException if it is empty
   */
  public static Password of(String password) {
    if (password.isEmpty()) {
      throw new IllegalArgumentException("the password is empty");
    }
    byte[] bytes = password.getBytes(UTF_8);
    return new Password(digest(bytes, 0, bytes.length));
  }

  /**
   * Returns the password that is the first line of a file.
   *
   * @throws IOException if the file cannot be read, or its first line is empty
   */
  public static Password readFrom(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    int length = 0;
    while (length < bytes.length && bytes[length] != '\n' && bytes[length] != '\r') {
      length++;
    }
    if (length == 0) {
      throw new IOException("the password file has no password in its first line: file=" + file);
    }
    Password password = new Password(digest(bytes, 0, length));
    Arrays.fill(bytes, (byte) 0);
    return password;
  }

  /** Returns whether bytes are the password; takes as long whichever they are. */
  boolean is(byte[] bytes, int start, int length) {
    return MessageDigest.isEqual(digest, digest(bytes, start, length));
  }

  private static byte[] digest(byte[] bytes, int start, int length) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      sha.update(bytes, start, length);
      return sha.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("each Java has SHA-256", e);
    }
  }
}
