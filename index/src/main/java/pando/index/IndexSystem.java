package pando.index;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import pando.fabric.server.CallHandler;

/**
 * A system, described without naming its classes: how to open an index of it, its documentation,
 * and what the simulator and the tests need. Immutable. {@link Systems} lists them.
 *
 * @param title its name as papers write it, such as {@code FG+}
 * @param description what it is, in one line
 * @param defaults its options before any setting is changed
 * @param tiny its options with the smallest nodes and caches: few entries make a deep tree
 * @param variations settings that trials draw, so that seeds differ in more than their operations
 * @param handlers makes the CALL handlers that memory servers run for it
 * @param operationNanos processor time of an operation at a compute server, in ns, as on the
 *     testbed of its paper; used by the simulator
 * @param warmsUpFast whether its cache holds inner nodes or models alone, so that few operations
 *     fill it
 */
public record IndexSystem(
    String title,
    String description,
    IndexOptions defaults,
    IndexOptions tiny,
    List<Variation> variations,
    Supplier<List<CallHandler>> handlers,
    int operationNanos,
    boolean warmsUpFast) {
  private static final int OPERATION_NANOS = 500;

  /**
   * A setting, and two values that it takes in trials.
   *
   * @param setting its name
   */
  public record Variation(String setting, String one, String other) {}

  /** Keeps a copy. */
  public IndexSystem {
    variations = List.copyOf(variations);
  }

  /** Makes a system without CALLs and without variations, whose cache fills slowly. */
  public IndexSystem(String title, String description, IndexOptions defaults, IndexOptions tiny) {
    this(title, description, defaults, tiny, List.of(), List::of, OPERATION_NANOS, false);
  }

  /** Returns this system with one more setting that trials draw. */
  public IndexSystem withVariation(String setting, String one, String other) {
    List<Variation> more = new ArrayList<>(variations);
    more.add(new Variation(setting, one, other));
    return new IndexSystem(
        title, description, defaults, tiny, more, handlers, operationNanos, warmsUpFast);
  }

  /** Returns this system with CALL handlers that memory servers run for it. */
  public IndexSystem withHandlers(Supplier<List<CallHandler>> services) {
    return new IndexSystem(
        title, description, defaults, tiny, variations, services, operationNanos, warmsUpFast);
  }

  /** Returns this system with another processor time of an operation, in ns. */
  public IndexSystem withOperationNanos(int nanos) {
    return new IndexSystem(
        title, description, defaults, tiny, variations, handlers, nanos, warmsUpFast);
  }

  /** Returns this system, marked as one whose cache holds only inner nodes or models. */
  public IndexSystem withFastWarmUp() {
    return new IndexSystem(
        title, description, defaults, tiny, variations, handlers, operationNanos, true);
  }

  /** Returns the name that options and commands use, such as {@code fg}. */
  public String name() {
    return defaults.system();
  }

  /** Returns a description of each setting by name, with its default in this system. */
  public Map<String, String> documentation() {
    return defaults.documentation();
  }
}
