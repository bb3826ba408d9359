package pando.cli.option;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import pando.fabric.tcp.Authentication;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/**
 * What a command line says of how both sides of a connection by TCP prove who they are.
 *
 * @param tls what the names of the options of TLS begin with, such as {@code --tls}
 */
public record AuthenticationFiles(
    String tls,
    @Nullable Path cert,
    @Nullable Path key,
    @Nullable Path ca,
    @Nullable Path token,
    boolean trustedNetwork) {
  /** Returns whether anything was said. */
  public boolean isAny() {
    return isAnyTls() || token != null || trustedNetwork;
  }

  private boolean isAnyTls() {
    return Stream.of(cert, key, ca).anyMatch(AuthenticationFiles::isGiven);
  }

  private static boolean isGiven(@Nullable Path file) {
    return file != null;
  }

  /** Returns what was asked for; files are not read yet. */
  public Authentication authentication(CommandSpec spec) {
    if (token != null && isAnyTls()) {
      throw refusal(spec, "give either --token-file or %1$s-cert, %1$s-key and %1$s-ca");
    }
    if (trustedNetwork && token == null) {
      throw refusal(spec, "--trusted-network goes with --token-file");
    }
    if (token != null) {
      Authentication.Token its = Authentication.token(token);
      return trustedNetwork ? its.onTrustedNetwork() : its;
    }
    if (cert != null && key != null && ca != null) {
      return Authentication.tls(cert, key, ca);
    }
    if (isAnyTls()) {
      throw refusal(spec, "%1$s-cert, %1$s-key and %1$s-ca are given together");
    }
    return Authentication.none();
  }

  private ParameterException refusal(CommandSpec spec, String message) {
    return new ParameterException(spec.commandLine(), message.formatted(tls));
  }
}
