package pando.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import pando.bench.report.ResultsTable;
import pando.bench.run.Experiment;
import pando.bench.run.LocalTestbed;
import pando.bench.run.Plan;
import pando.bench.run.Result;
import pando.bench.run.Setup;
import pando.bench.subject.ClientSubject;
import pando.bench.workload.Workload;
import pando.cli.option.ClientConnectOptions;
import pando.cli.option.Ranges;
import pando.cli.text.Numbers;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Runs workloads on an index by its compute servers: {@code pando client bench}. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
@Command(
    name = "bench",
    description =
        "Loads records into an empty index, runs workloads, and checks every value that is read.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class ClientBenchCommand implements Callable<Integer>, Experiment.Listener {
  @Spec private CommandSpec spec;
  @Mixin private ClientConnectOptions connectOptions;
  @Mixin private WorkloadOptions workloads;
  @Mixin private LoadOptions loadOptions;
  @Mixin private DrawOptions drawOptions;
  @Mixin private PlanOptions planOptions;

  private final List<Result> results = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Plan plan = planOptions.plan(workloads, loadOptions, drawOptions);
    Ranges.check(spec, "--lanes", plan.lanes() == 0, plan.lanes(), "a client has no lanes");
    List<Workload> all = workloads.list();
    boolean oneLoad = all.stream().limit(all.size() - 1L).noneMatch(Workload::inserts);
    Ranges.check(spec, "--workload", oneLoad, all, "only the last may insert");
    Experiment.TestbedSource source =
        inserts -> LocalTestbed.load(new ClientSubject(connectOptions.connect()), plan);
    new Experiment(Setup.peer("client"), plan, source, this).run(all);
    ResultsTable table = new ResultsTable(results);
    PrintWriter out = spec.commandLine().getOut();
    out.printf("%n%s", table.speed());
    out.flush();
    return CommandLine.ExitCode.OK;
  }

  @Override
  public void onLoad(Setup setup, Duration time, double rate) {
    String seconds = Numbers.decimal(time.toMillis() / 1e3, 1);
    spec.commandLine().getErr().printf("loaded in %s s%n", seconds);
  }

  @Override
  public void onResult(Result result) {
    results.add(result);
  }
}
