package pando.fabric.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;

/** Signs certificates for tests, and writes them as PEM files into its directory. */
public final class TestAuthority {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final String EC_DSA_WITH_SHA_256 = "1.2.840.10045.4.3.2";
  private static final String COMMON_NAME = "2.5.4.3";
  private static final String ALTERNATIVE_NAMES = "2.5.29.17";
  private static final String BASIC_CONSTRAINTS = "2.5.29.19";
  private static final int URI = 0x86;
  private static final AtomicInteger COUNT = new AtomicInteger();

  private final Path directory;
  private final KeyPair keys = keys();
  private final String name;
  private final Path certificate;
  private int serial;

  /** Makes an authority with a key of its own. */
  public TestAuthority(Path directory) throws IOException {
    this.directory = directory;
    this.name = "authority-" + COUNT.incrementAndGet();
    byte[] isAuthority = sequence(der(0x01, new byte[] {-1}));
    byte[] extension =
        sequence(oid(BASIC_CONSTRAINTS), der(0x01, new byte[] {-1}), der(0x04, isAuthority));
    this.certificate =
        write(name + ".pem", "CERTIFICATE", signed(name, keys, extension, Duration.ofDays(1)));
  }

  /** A certificate and its key, in files, and the authority that signed it. */
  public record Signed(Path certificate, Path key, Path authority) {
    /** Reads the files. */
    public TlsKeys read() {
      return TlsKeys.read(certificate, key, authority);
    }

    /** Reads the files, also if the certificate is not valid. */
    public TlsKeys readInvalid() {
      return TlsKeys.read(certificate, key, authority, false);
    }

    /** Returns the same, but that it trusts another authority. */
    public Signed trusting(TestAuthority other) {
      return new Signed(certificate, key, other.certificate());
    }
  }

  /** Returns the file with the certificate of the authority. */
  public Path certificate() {
    return certificate;
  }

  /** Signs a certificate for a name such as {@code pando://CLUSTER/ROLE/NAME}, valid for a day. */
  public Signed sign(String uri) throws IOException {
    return sign(uri, Duration.ofDays(1));
  }

  /** Signs a certificate that ends after a while, or has ended if that is negative. */
  public Signed sign(String uri, Duration validFor) throws IOException {
    KeyPair pair = keys();
    byte[] name = sequence(der(URI, uri.getBytes(StandardCharsets.US_ASCII)));
    byte[] extension = sequence(oid(ALTERNATIVE_NAMES), der(0x04, name));
    String file = "signed-" + serial + "-by-" + this.name;
    return new Signed(
        write(file + ".pem", "CERTIFICATE", signed("server", pair, extension, validFor)),
        write(file + ".key", "PRIVATE KEY", pair.getPrivate().getEncoded()),
        certificate);
  }

  private byte[] signed(String subject, KeyPair of, byte[] extension, Duration validFor) {
    Instant end = Instant.now().plus(validFor);
    byte[] algorithm = sequence(oid(EC_DSA_WITH_SHA_256));
    byte[] content =
        sequence(
            der(0xa0, der(0x02, new byte[] {2})),
            der(0x02, new byte[] {(byte) ++serial}),
            algorithm,
            name(name),
            sequence(time(end.minus(Duration.ofDays(2))), time(end)),
            name(subject),
            of.getPublic().getEncoded(),
            der(0xa3, sequence(extension)));
    return sequence(content, algorithm, bits(signature(content)));
  }

  private byte[] signature(byte[] content) {
    try {
      Signature signature = Signature.getInstance("SHA256withECDSA");
      signature.initSign(keys.getPrivate());
      signature.update(content);
      return signature.sign();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private static KeyPair keys() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(256);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  private Path write(String file, String what, byte[] content) throws IOException {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    String pem = "-----BEGIN " + what + "-----\n" + base64 + "\n-----END " + what + "-----\n";
    return Files.writeString(directory.resolve(file), pem);
  }

  private static byte[] name(String commonName) {
    byte[] text = der(0x0c, commonName.getBytes(StandardCharsets.UTF_8));
    return sequence(der(0x31, sequence(oid(COMMON_NAME), text)));
  }

  private static byte[] time(Instant instant) {
    return der(0x18, TIME.format(instant).getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] bits(byte[] bytes) {
    return der(0x03, joined(new byte[] {0}, bytes));
  }

  private static byte[] oid(String dotted) {
    String[] parts = dotted.split("\\.", -1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(Integer.parseInt(parts[0]) * 40 + Integer.parseInt(parts[1]));
    for (int i = 2; i < parts.length; i++) {
      int part = Integer.parseInt(parts[i]);
      for (int shift = 28; shift > 0; shift -= 7) {
        if ((part >> shift) != 0) {
          out.write(((part >> shift) & 0x7f) | 0x80);
        }
      }
      out.write(part & 0x7f);
    }
    return der(0x06, out.toByteArray());
  }

  private static byte[] sequence(byte[]... parts) {
    return der(0x30, joined(parts));
  }

  /** Returns an element of ASN.1: a tag, the length of the content, the content. */
  private static byte[] der(int tag, byte[] content) {
    int length = content.length;
    byte[] header;
    if (length < 0x80) {
      header = new byte[] {(byte) tag, (byte) length};
    } else if (length < 0x100) {
      header = new byte[] {(byte) tag, (byte) 0x81, (byte) length};
    } else {
      header = new byte[] {(byte) tag, (byte) 0x82, (byte) (length >> 8), (byte) length};
    }
    return joined(header, content);
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }
}
