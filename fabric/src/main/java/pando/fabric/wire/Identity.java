package pando.fabric.wire;

import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who a certificate is of: its subject alternative name {@code pando://CLUSTER/ROLE/NAME}. Cluster
 * and name are 1 to 64 letters of ASCII, digits, dots, hyphens and underscores.
 */
public record Identity(String cluster, Role role, String name) {
  private static final String SCHEME = "pando://";
  private static final Pattern FORM =
      Pattern.compile(
          "pando://([A-Za-z0-9._-]{1,64})/(memory|compute|admin|client)/([A-Za-z0-9._-]{1,64})");

  /** The kind of alternative names that are URIs (RFC 5280, GeneralName). */
  private static final int URI = 6;

  /**
   * Returns the identity in a certificate.
   *
   * @throws CertificateException if it has none, several, or one of another form
   */
  public static Identity of(X509Certificate certificate) throws CertificateException {
    List<String> names = names(certificate);
    Matcher matcher = FORM.matcher(names.size() == 1 ? names.getFirst() : "");
    if (!matcher.matches()) {
      throw new CertificateException(
          "needs one subject alternative name of the form pando://CLUSTER/ROLE/NAME, ROLE one of"
              + " memory, compute, admin, client: found="
              + names);
    }
    Role role = Role.valueOf(matcher.group(2).toUpperCase(Locale.ROOT));
    return new Identity(matcher.group(1), role, matcher.group(3));
  }

  private static List<String> names(X509Certificate certificate)
      throws CertificateParsingException {
    List<String> names = new ArrayList<>();
    Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
    if (alternatives != null) {
      for (List<?> alternative : alternatives) {
        if (alternative.get(0).equals(URI) && alternative.get(1).toString().startsWith(SCHEME)) {
          names.add(alternative.get(1).toString());
        }
      }
    }
    return names;
  }

  /** Returns the name as the certificate has it. */
  @Override
  public String toString() {
    return SCHEME + cluster + "/" + role + "/" + name;
  }
}
