package pando.fabric.wire;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.TrustManagerFactory;

/**
 * What one side proves itself by, and whom it trusts: a chain of certificates, the key of the
 * first, and the authorities that sign those of the others. Immutable and thread-safe.
 */
public final class TlsKeys {
  private static final long FILE_BYTES_MAX = 1 << 20;
  private static final String[] PROTOCOLS = {"TLSv1.3"};
  private static final String[] CIPHERS = {
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"
  };

  /**
   * No session is kept for another handshake, as that would not check certificates: JDK's limit.
   */
  private static final int NO_TICKETS_SECONDS = 8 * 24 * 3600;

  private static final Pattern PRIVATE_KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

  private final SSLContext context;
  private final Identity identity;

  private TlsKeys(SSLContext context, Identity identity) {
    this.context = context;
    this.identity = identity;
  }

  /**
   * Reads PEM files.
   *
   * @param chain certificates of this side, its own first
   * @param key its private key, PKCS #8, not encrypted
   * @param authorities certificates that are trusted to sign those of others
   * @throws IllegalArgumentException if a file cannot be read, is something else, or they do not go
   *     together; or if the certificate is not valid now
   */
  public static TlsKeys read(Path chain, Path key, Path authorities) {
    return read(chain, key, authorities, true);
  }

  static TlsKeys read(Path chain, Path key, Path authorities, boolean mustBeValid) {
    List<X509Certificate> own = certificates(chain);
    List<X509Certificate> trusted = certificates(authorities);
    PublicKey publicKey = own.getFirst().getPublicKey();
    PrivateKey privateKey = privateKey(key, publicKey.getAlgorithm());
    try {
      if (mustBeValid) {
        own.getFirst().checkValidity();
      }
      Identity identity = Identity.of(own.getFirst());
      if (!isPair(privateKey, publicKey)) {
        throw new IllegalArgumentException(
            "not the key of the certificate: key=" + key + ", certificate=" + chain);
      }
      return new TlsKeys(context(own, privateKey, trusted), identity);
    } catch (CertificateException e) {
      throw new IllegalArgumentException(
          "no certificate to connect with: file=" + chain + ", because=" + e.getMessage(), e);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException(
          "cannot be used: certificate=" + chain + ", key=" + key + ", because=" + e, e);
    }
  }

  /** Returns who this side is. */
  public Identity identity() {
    return identity;
  }

  /** Returns an engine for one connection, which asks for a certificate on both sides. */
  public SSLEngine engine(boolean client) {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(client);
    SSLParameters parameters = new SSLParameters(CIPHERS, PROTOCOLS);
    parameters.setNeedClientAuth(true);
    engine.setSSLParameters(parameters);
    return engine;
  }

  /**
   * Returns who is on the other side of an engine whose handshake is done.
   *
   * @throws CertificateException if the certificate does not say so, or is of another cluster
   */
  public Identity peer(SSLEngine engine) throws CertificateException, SSLPeerUnverifiedException {
    Identity peer = Identity.of((X509Certificate) engine.getSession().getPeerCertificates()[0]);
    if (!peer.cluster().equals(identity.cluster())) {
      throw new CertificateException(
          "is of another cluster: identity=" + peer + ", cluster=" + identity.cluster());
    }
    return peer;
  }

  private static SSLContext context(
      List<X509Certificate> own, PrivateKey key, List<X509Certificate> trusted)
      throws GeneralSecurityException, IOException {
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null, null);
    for (int i = 0; i < trusted.size(); i++) {
      authorities.setCertificateEntry("authority" + i, trusted.get(i));
    }
    TrustManagerFactory trustManagers = TrustManagerFactory.getInstance("PKIX");
    trustManagers.init(authorities);
    SSLContext context = SSLContext.getInstance("TLSv1.3");
    KeyManager[] keyManagers = {new OneKey(own, key)};
    context.init(keyManagers, trustManagers.getTrustManagers(), new SecureRandom());
    context.getServerSessionContext().setSessionTimeout(NO_TICKETS_SECONDS);
    return context;
  }

  private static List<X509Certificate> certificates(Path file) {
    byte[] bytes = bytes(file);
    try {
      List<X509Certificate> certificates =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(bytes))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!certificates.isEmpty()) {
        return certificates;
      }
    } catch (CertificateException e) {
      throw new IllegalArgumentException("no certificates in PEM: file=" + file, e);
    }
    throw new IllegalArgumentException("no certificates in PEM: file=" + file);
  }

  private static PrivateKey privateKey(Path file, String algorithm) {
    Matcher matcher = PRIVATE_KEY.matcher(new String(bytes(file), StandardCharsets.ISO_8859_1));
    if (!matcher.find()) {
      throw new IllegalArgumentException(
          "no unencrypted private key in PEM, PKCS #8 (openssl pkcs8 -topk8 -nocrypt makes one):"
              + " file="
              + file);
    }
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(matcher.group(1));
      return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      // Without the cause, which might say what is in the file.
      throw new IllegalArgumentException(
          "not a private key for the certificate: file=" + file + ", algorithm=" + algorithm);
    }
  }

  private static byte[] bytes(Path file) {
    try {
      if (Files.size(file) > FILE_BYTES_MAX) {
        throw new IllegalArgumentException(
            "too long for keys or certificates: file=" + file + ", maximum=" + FILE_BYTES_MAX);
      }
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot read a file: " + e, e);
    }
  }

  private static boolean isPair(PrivateKey privateKey, PublicKey publicKey)
      throws GeneralSecurityException {
    String algorithm =
        switch (publicKey.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          default -> publicKey.getAlgorithm();
        };
    byte[] message = {1, 2, 3, 4};
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(privateKey);
    signature.update(message);
    byte[] signed = signature.sign();
    signature.initVerify(publicKey);
    signature.update(message);
    return signature.verify(signed);
  }
}
