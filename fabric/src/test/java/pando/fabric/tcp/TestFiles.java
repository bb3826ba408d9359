package pando.fabric.tcp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import pando.fabric.wire.TestAuthority;

/** Authentication by files that a test has written. */
@SuppressWarnings("exports") // Pando's other tests see it all.
public final class TestFiles {
  private TestFiles() {}

  /** Returns authentication by a certificate. */
  public static Authentication tls(TestAuthority.Signed signed) {
    return Authentication.tls(signed.certificate(), signed.key(), signed.authority());
  }

  /** Writes a secret into a new file of a directory. */
  public static Authentication.Token token(Path directory, String secret) throws IOException {
    Path file = Files.createTempFile(directory, "secret", "");
    Files.writeString(file, secret);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    return Authentication.token(file);
  }
}
