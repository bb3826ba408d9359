package pando.fabric.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files with keys, certificates and secrets, also such as are of no use. */
class CredentialFilesTest {
  private static final String SECRET = "sixteen bytes 16";

  @TempDir private Path directory;
  private TestAuthority authority;
  private TestAuthority.Signed signed;

  @BeforeEach
  void sign() throws IOException {
    authority = new TestAuthority(directory);
    signed = authority.sign("pando://grove/admin/a-1.B_");
  }

  @Test
  void shouldSayWhoACertificateIsOf() {
    assertThat(signed.read().identity()).isEqualTo(new Identity("grove", Role.ADMIN, "a-1.B_"));
    assertThat(signed.read().identity()).hasToString("pando://grove/admin/a-1.B_");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://grove/compute/c",
        "pando://grove/root/c",
        "pando://grove/COMPUTE/c",
        "pando://grove/compute/",
        "pando://grove/compute/c/d",
        "pando:///compute/c",
        "pando://grove/compute/c?d",
        "pando://grove/compute/c\nd"
      })
  void shouldRefuseOtherNames(String uri) throws IOException {
    TestAuthority.Signed other = authority.sign(uri);
    assertThatThrownBy(other::read)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("file=" + other.certificate());
  }

  @Test
  void shouldRefuseFilesThatAreSomethingElse() throws IOException {
    Path missing = directory.resolve("missing");
    assertRefused(missing, signed.key(), signed.authority(), "NoSuchFileException: " + missing);
    assertRefused(signed.key(), signed.key(), signed.authority(), "no certificates in PEM");
    assertRefused(signed.certificate(), signed.certificate(), signed.authority(), "pkcs8 -topk8");
    Path other = authority.sign("pando://grove/admin/b").key();
    assertRefused(
        signed.certificate(), other, signed.authority(), "not the key of the certificate");
    Path damaged =
        Files.writeString(
            directory.resolve("damaged"),
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assertRefused(signed.certificate(), damaged, signed.authority(), "not a private key for");
  }

  private static void assertRefused(Path chain, Path key, Path authorities, String reason) {
    assertThatThrownBy(() -> TlsKeys.read(chain, key, authorities))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rwx------"})
  void shouldRefuseASecretThatOthersMayRead(String mode) throws IOException {
    Path file = secret(SECRET, mode);
    assertThatThrownBy(() -> Secret.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a file with a secret must have mode 0600: file=" + file + ", mode=" + mode);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n", "fifteen bytes..\n\r\n"})
  void shouldRefuseShortSecrets(String secret) throws IOException {
    Path file = secret(secret, "rw-------");
    assertThatThrownBy(() -> Secret.read(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the secret is too short: file=" + file);
  }

  @Test
  void shouldProveBySideRoleAndBothNonces() throws IOException {
    Secret secret = Secret.read(secret(SECRET + "\n", "r--------"));
    byte[] a = {1};
    byte[] b = {2};
    byte[] proof = secret.proof(Secret.Side.CLIENT, Protocol.VERBS, Role.COMPUTE, a, b);
    assertThat(
            Secret.read(secret(SECRET, "rw-------"))
                .proof(Secret.Side.CLIENT, Protocol.VERBS, Role.COMPUTE, a, b))
        .isEqualTo(proof);
    assertThat(secret.proof(Secret.Side.SERVER, Protocol.VERBS, Role.COMPUTE, a, b))
        .isNotEqualTo(proof);
    assertThat(secret.proof(Secret.Side.CLIENT, Protocol.VERBS, Role.ADMIN, a, b))
        .isNotEqualTo(proof);
    assertThat(secret.proof(Secret.Side.CLIENT, Protocol.VERBS, Role.COMPUTE, b, a))
        .isNotEqualTo(proof);
    assertThat(secret.proof(Secret.Side.CLIENT, Protocol.VERBS, Role.COMPUTE, a, a))
        .isNotEqualTo(proof);
    assertThat(secret.toString()).doesNotContain(SECRET);
  }

  private Path secret(String secret, String mode) throws IOException {
    Path file = Files.createTempFile(directory, "secret", "");
    Files.writeString(file, secret);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }
}
