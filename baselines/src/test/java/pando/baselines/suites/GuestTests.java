package pando.baselines.suites;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import pando.index.Seeds;

/**
 * Runs tests in a machine of the test bed, and prints a line for each. JUnit's own command line
 * takes an emulated processor seconds to start.
 */
final class GuestTests implements TestExecutionListener {
  private static final int FAILURE_LINES = 40;

  private final Map<TestIdentifier, Long> starts = new HashMap<>();

  private GuestTests() {}

  /**
   * Exits with 0 if there are tests, and all pass.
   *
   * @param arguments a tag that tests must have, and selectors of JUnit, such as {@code
   *     package:NAME} or {@code class:NAME}
   */
  public static void main(String[] arguments) {
    List<String> selectors = List.of(arguments).subList(1, arguments.length);
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(selectors.stream().map(GuestTests::selector).toList())
            .filters(
                TagFilter.includeTags(arguments[0]),
                TagFilter.excludeTags(Seeds.isCampaign() ? "none" : "campaign"))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener, new GuestTests());
    TestExecutionSummary summary = listener.getSummary();
    PrintWriter output = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    summary.printFailuresTo(output, FAILURE_LINES);
    summary.printTo(output);
    boolean isPassed = summary.getTotalFailureCount() == 0 && summary.getTestsSucceededCount() > 0;
    System.exit(isPassed ? 0 : 1);
  }

  private static DiscoverySelector selector(String text) {
    return DiscoverySelectors.parse(text).orElseThrow();
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    System.out.printf("%s SKIPPED: %s%n", test.getDisplayName(), reason);
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    starts.put(test, System.nanoTime());
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    long start = Objects.requireNonNull(starts.remove(test), "not started");
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    System.out.printf("%s %s: %d ms%n", test.getDisplayName(), result.getStatus(), millis);
    result
        .getThrowable()
        .filter(_ -> result.getStatus() == TestExecutionResult.Status.ABORTED)
        .ifPresent(why -> System.out.println("  " + why.getMessage()));
  }
}
