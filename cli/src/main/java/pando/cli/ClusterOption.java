package pando.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import pando.cli.option.Ranges;
import pando.cluster.ClusterAddress;
import pando.cluster.Membership;
import pando.cluster.MembershipProvider;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options that say which cluster a process belongs to. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ClusterOption {
  /** Exit code of a server that is lost to others. */
  static final int LOST = 3;

  /** Exit code of a server that no coordinator answers, or others that it needs at its start. */
  static final int OTHERS_GONE = 4;

  private static final int SESSION_SECONDS_MAX = 60;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--cluster",
      paramLabel = "ZOOKEEPER/NAME",
      converter = Converter.class,
      description =
          "Cluster: HOST:PORT of ZooKeeper's servers, with commas between, and the cluster's name,"
              + " such as 10.0.0.1:2181,10.0.0.2:2181/grove.")
  private @Nullable ClusterAddress cluster;

  @Option(
      names = "--session-timeout",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description =
          "After how long without a sign of life this process counts as lost, as far as ZooKeeper's"
              + " own bounds let it (default: ${DEFAULT-VALUE}).")
  private int sessionSeconds;

  /** Returns whether there is a cluster. */
  boolean isGiven() {
    return cluster != null;
  }

  /** Returns which cluster it is. */
  ClusterAddress address() {
    if (cluster == null) {
      throw new ParameterException(spec.commandLine(), "--cluster=ZOOKEEPER/NAME is needed");
    }
    return cluster;
  }

  /**
   * Opens a session with the coordinator.
   *
   * @throws pando.cluster.CoordinatorLostException if it does not answer
   */
  Membership connect() {
    ClusterAddress address = address();
    Ranges.check(spec, "--session-timeout", sessionSeconds, 1, SESSION_SECONDS_MAX);
    return MembershipProvider.installed().connect(address, Duration.ofSeconds(sessionSeconds));
  }

  /** Reads where a cluster is. */
  static final class Converter implements ITypeConverter<ClusterAddress> {
    @Override
    public ClusterAddress convert(String text) {
      try {
        return ClusterAddress.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
