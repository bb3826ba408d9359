package pando.bench;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import pando.bench.cluster.ComputeService;
import pando.bench.cluster.JavaProcess;
import pando.bench.run.Plan;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs some of the compute servers for a benchmark over shared memory, which is its parent. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(name = "compute-servers", hidden = true)
final class ComputeServerCommand implements Callable<Integer> {
  @Mixin private WorkloadOptions workloads;
  @Mixin private LoadOptions loadOptions;
  @Mixin private DrawOptions drawOptions;
  @Mixin private PlanOptions planOptions;
  @Mixin private ChosenIndex chosenIndex;
  @Mixin private ServerOptions serverOptions;
  @Mixin private SettingOptions settingOptions;

  @Option(names = "--pool", required = true, split = ",")
  private List<String> memoryServers;

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
            memoryServers,
            process,
            processes,
            requests,
            answers)) {
      service.run();
    }
    return 0;
  }
}
