package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import pando.bench.demo.Demo;
import pando.bench.demo.GeoIpFile;
import pando.bench.demo.Ipv4Address;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
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
          + " answer."
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

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    Demo demo = new Demo(GeoIpFile.readBundled(), out);
    if (address == null) {
      demo.run();
    } else {
      demo.locate(address);
    }
    out.flush();
    return 0;
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
