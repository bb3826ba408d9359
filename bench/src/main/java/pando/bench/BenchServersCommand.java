package pando.bench;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import pando.bench.cluster.ComputeService;
import pando.bench.run.Plan;
import pando.cli.cluster.JavaProcess;
import pando.cli.option.AuthenticationOptions;
import pando.cli.option.CardOption;
import pando.cli.option.Choices;
import pando.cli.option.ChosenIndex;
import pando.cli.option.HostPort;
import pando.cli.option.ServerOptions;
import pando.cli.option.SettingOptions;
import pando.fabric.Fabric;
import pando.fabric.shm.ShmFabric;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs some of the compute servers for a benchmark, which is its parent. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(name = "compute-servers", hidden = true)
final class BenchServersCommand implements Callable<Integer> {
  @Mixin private WorkloadOptions workloads;
  @Mixin private LoadOptions loadOptions;
  @Mixin private DrawOptions drawOptions;
  @Mixin private PlanOptions planOptions;
  @Mixin private ChosenIndex chosenIndex;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SettingOptions settingOptions;

  @Option(names = "--fabric", required = true, converter = Choices.FabricConverter.class)
  private Choices.FabricKind fabric;

  /** Names of the memory servers, or addresses. */
  @Option(names = "--pool", required = true, split = ",")
  private List<String> memoryServers;

  @Mixin private AuthenticationOptions authenticationOptions;
  @Mixin private CardOption cardOption;

  @Option(names = "--process", required = true)
  private int process;

  @Option(names = "--processes", required = true)
  private int processes;

  @Option(names = "--parent", required = true)
  private long parent;

  @Override
  public Integer call() throws IOException {
    JavaProcess.endWith(parent);
    DataInputStream requests = new DataInputStream(System.in);
    DataOutputStream answers = new DataOutputStream(System.out);
    // Other output must not mix with the answers.
    System.setOut(System.err);
    Plan plan = planOptions.plan(workloads, loadOptions, drawOptions);
    try (ComputeService service =
        new ComputeService(
            plan,
            chosenIndex.options(serverOptions, settingOptions, plan.recordsToCache()),
            attach(plan.seed() + process),
            process,
            processes,
            requests,
            answers)) {
      service.run();
    }
    return 0;
  }

  private Fabric attach(long seed) {
    if (fabric == Choices.FabricKind.SHM) {
      return ShmFabric.attach(memoryServers, seed);
    }
    List<InetSocketAddress> addresses =
        memoryServers.stream().map(new HostPort()::convert).toList();
    return cardOption.attach(fabric, addresses, seed, authenticationOptions.tcp());
  }
}
