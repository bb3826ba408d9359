package pando.door.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

/** Passwords, encryption, and where the door listens. */
class SecurityTest {
  private static final String SECRET = "a secret with spaces";
  private static final char[] STORE_SECRET = "store secret".toCharArray();

  @TempDir private Path folder;

  @Test
  void shouldServeWhoGivesThePassword() throws Exception {
    Path file = Files.writeString(folder.resolve("password"), SECRET + "\nanother line\n");
    Password password = Password.readFrom(file);
    try (TestDoor door = TestDoor.open(options -> options.withPassword(password));
        RawClient client = door.raw()) {
      assertThat(client.ask("GET", "k")).isEqualTo("-NOAUTH Authentication required.");
      assertThat(client.ask("HELLO", "2")).startsWith("-NOAUTH HELLO must be called");
      assertThat(client.ask("AUTH", "wrong")).startsWith("-WRONGPASS");
      assertThat(client.ask("AUTH", SECRET + "x")).startsWith("-WRONGPASS");
      assertThat(client.ask("AUTH", "somebody", SECRET)).startsWith("-WRONGPASS");
      assertThat(client.ask("CLIENT", "LIST")).startsWith("-NOAUTH");
      assertThat(client.ask("AUTH", SECRET)).isEqualTo("+OK");
      assertThat(client.ask("SET", "k", "v")).isEqualTo("+OK");
      assertThat(client.ask("RESET")).isEqualTo("+RESET");
      assertThat(client.ask("GET", "k")).startsWith("-NOAUTH");
      assertThat(client.ask("HELLO", "2", "AUTH", "default", SECRET)).contains("proto, :2");
      assertThat(client.ask("GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void shouldReadLittleFromStrangers() throws Exception {
    try (TestDoor door = TestDoor.open(options -> options.withPassword(Password.of(SECRET)));
        RawClient client = door.raw();
        RawClient other = door.raw()) {
      client.send("*11\r\n");
      assertThat(client.reply()).isEqualTo("-ERR Protocol error: unauthenticated multibulk length");
      assertThat(client.ends()).isTrue();
      other.send("*1\r\n$16385\r\n");
      assertThat(other.reply()).isEqualTo("-ERR Protocol error: unauthenticated bulk length");
      assertThat(other.ends()).isTrue();
    }
  }

  @Test
  void shouldRefusePasswordFilesWithoutAPassword() throws Exception {
    Path empty = Files.writeString(folder.resolve("empty"), "\nsecret\n");
    assertThatThrownBy(() -> Password.readFrom(empty)).hasMessageContaining("no password");
    assertThatThrownBy(() -> Password.readFrom(folder.resolve("nosuchfile")))
        .isInstanceOf(NoSuchFileException.class);
    assertThatThrownBy(() -> Password.of("")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void shouldListenBeyondLoopbackOnlyWithAPassword() throws Exception {
    InetSocketAddress all = new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0);
    assertThatThrownBy(() -> TestDoor.open(options -> options.withAddress(all)).close())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0.0.0.0:0");
    TestDoor.open(options -> options.withAddress(all).withPassword(Password.of(SECRET))).close();
    TestDoor.open(options -> options.withAddress(all).withOpen(true)).close();
  }

  @Test
  void shouldSayThatAPortIsInUse() throws Exception {
    try (TestDoor door = TestDoor.open()) {
      assertThatThrownBy(
              () -> TestDoor.open(options -> options.withAddress(door.address())).close())
          .isInstanceOf(IOException.class)
          .hasMessageContaining("cannot listen: address=")
          .hasMessageContaining("in use");
      try (RawClient client = door.raw()) {
        assertThat(client.ask("PING")).isEqualTo("+PONG");
      }
    }
  }

  @Test
  void shouldServeEncryptedConnections() throws Exception {
    KeyStore store = made();
    Path certificates = pem("CERTIFICATE", store.getCertificate("server").getEncoded());
    Path key = pem("PRIVATE KEY", store.getKey("server", STORE_SECRET).getEncoded());
    RespOptions.Tls tls = new RespOptions.Tls(certificates, key);
    try (TestDoor door = TestDoor.open(options -> options.withTls(tls));
        Jedis jedis =
            new Jedis(
                "localhost",
                door.address().getPort(),
                true,
                trusting(store).getSocketFactory(),
                new SSLParameters(),
                (_, _) -> true)) {
      String large = "v".repeat(300_000);
      assertThat(jedis.set("k", large)).isEqualTo("OK");
      assertThat(jedis.get("k")).isEqualTo(large);
      try (RawClient plain = door.raw()) {
        plain.send(RawClient.request("GET", "k"));
        assertThat(plain.ends()).isTrue();
      }
      assertThat(jedis.ping()).isEqualTo("PONG");
    }
    RespOptions.Tls wrong = new RespOptions.Tls(certificates, certificates);
    assertThatThrownBy(() -> TestDoor.open(options -> options.withTls(wrong)).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot read the certificates or the key");
    RespOptions.Tls absent = new RespOptions.Tls(folder.resolve("nosuchfile"), key);
    assertThatThrownBy(() -> TestDoor.open(options -> options.withTls(absent)).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nosuchfile");
  }

  /** Makes a certificate that is its own issuer. */
  private KeyStore made() throws Exception {
    Path file = folder.resolve("store");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "server",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=dns:localhost",
                "-validity",
                "2",
                "-keystore",
                file.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(STORE_SECRET))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), US_ASCII);
    assertThat(keytool.waitFor()).as(said).isZero();
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, STORE_SECRET);
    }
    return store;
  }

  private Path pem(String what, byte[] encoded) throws IOException {
    String body = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded);
    String text = "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, body, what);
    return Files.writeString(folder.resolve(what.replace(' ', '-') + ".pem"), text);
  }

  private static SSLContext trusting(KeyStore store) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", store.getCertificate("server"));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
