package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.bench.demo.Demo;
import pando.bench.demo.GeoIpFile;
import pando.bench.demo.Ipv4Address;
import pando.bench.demo.KilledServer;
import pando.cli.cluster.LocalCluster;
import pando.cli.option.Ranges;
import pando.client.PandoClient;
import pando.index.Systems;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Looks up the country of an IPv4 address. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "demo",
    description = {
      "Prints the country of an address; without an address, loads all IPv4 address ranges into"
          + " a cluster in this process, asks and changes them in every way, and checks each"
          + " answer. Then it kills a server with a data folder, and finds all that it had"
          + " acknowledged."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "The ranges are the IPFire location database (location.ipfire.org), CC BY-SA 4.0."
    })
final class DemoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "ADDRESS",
      converter = AddressConverter.class,
      description = "An IPv4 address such as 8.8.8.8.")
  private @Nullable Long address;

  @Option(
      names = "--cluster",
      description =
          "Stores, asks and changes the ranges by a client of a cluster of processes, as pando up"
              + " runs it.")
  private boolean cluster;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    NavigableMap<Long, Long> ranges = GeoIpFile.readBundled();
    Demo demo = new Demo(ranges, out);
    if (cluster) {
      Ranges.check(spec, "--cluster", address == null, true, "not together with an address");
      runInCluster(demo);
    } else if (address == null) {
      demo.run();
      out.flush();
      new KilledServer(ranges, out).run();
    } else {
      demo.locate(address);
    }
    out.flush();
    return 0;
  }

  private void runInCluster(Demo demo) throws IOException {
    LocalCluster.Plan plan =
        new LocalCluster.Plan(
            2,
            2,
            "1GiB",
            Duration.ofSeconds(5),
            List.of("--index=" + Systems.DEFAULT, "--cache=64MiB"),
            null,
            null);
    try (LocalCluster processes = LocalCluster.start(plan, this::print);
        PandoClient client = processes.connect()) {
      demo.run(client);
    }
  }

  private void print(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println("pando demo: " + line);
    err.flush();
  }

  private static final class AddressConverter implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      try {
        return Ipv4Address.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(String.valueOf(e.getMessage()));
      }
    }
  }
}
