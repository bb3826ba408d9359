package pando.baselines.suites;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.ParameterInfo;
import org.junit.jupiter.params.provider.FieldSource;
import pando.index.IndexSystem;
import pando.index.Seeds;
import pando.index.Systems;

/**
 * Has a few of the rows of parameterized tests over systems run; campaigns run all. A row is of the
 * system that one of its arguments names, alone or as its first word. DEX and ORCA are products,
 * which maps and clusters use, all others are baselines.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(FewRows.Condition.class)
@interface FewRows {
  /** Returns how many rows of each product run in each test. */
  int products() default Integer.MAX_VALUE;

  /**
   * Returns how many rows of each baseline run in the class. Where several tests run over a list of
   * systems, they are those of one test, for each baseline of another one.
   */
  int baselines() default 1;

  /** Has a row run if it is among the first of its system. */
  final class Condition implements ExecutionCondition {
    private static final List<String> PRODUCTS = List.of("dex", "orca");
    private static final List<String> BASELINES =
        Systems.all().stream()
            .map(IndexSystem::name)
            .filter(name -> !PRODUCTS.contains(name))
            .toList();

    /** How many rows have run, of each system in each test or class. */
    private static final Map<String, Integer> RUN = new ConcurrentHashMap<>();

    private static final ConditionEvaluationResult RUNS =
        ConditionEvaluationResult.enabled("not left to campaigns");

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      ParameterInfo row = ParameterInfo.get(context);
      if (row == null || Seeds.isCampaign()) {
        return RUNS;
      }
      return Arrays.stream(row.getArguments().toArray())
          .map(argument -> argument.toString().split(" ", 2)[0].toLowerCase(Locale.ROOT))
          .map(name -> name.replace('_', '-'))
          .filter(name -> PRODUCTS.contains(name) || BASELINES.contains(name))
          .findFirst()
          .filter(system -> !isAmongTheFirst(context, system))
          .map(system -> ConditionEvaluationResult.disabled("runs in campaigns: " + system))
          .orElse(RUNS);
    }

    private static boolean isAmongTheFirst(ExtensionContext context, String system) {
      FewRows few = context.getRequiredTestClass().getAnnotation(FewRows.class);
      if (PRODUCTS.contains(system)) {
        return count(context.getRequiredTestMethod() + " " + system) <= few.products();
      }
      return isTurn(context, BASELINES.indexOf(system))
          && count(context.getRequiredTestClass() + " " + system) <= few.baselines();
    }

    private static int count(String what) {
      return RUN.merge(what, 1, Integer::sum);
    }

    private static boolean isOverAll(Method test) {
      FieldSource source = test.getAnnotation(FieldSource.class);
      return source != null && source.value()[0].endsWith("#ALL");
    }

    private static boolean isTurn(ExtensionContext context, int baseline) {
      List<String> tests =
          Arrays.stream(context.getRequiredTestClass().getDeclaredMethods())
              .filter(Condition::isOverAll)
              .map(Method::getName)
              .sorted()
              .toList();
      return tests.isEmpty()
          || tests.get(baseline % tests.size()).equals(context.getRequiredTestMethod().getName());
    }
  }
}
