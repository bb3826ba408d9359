package pando.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import pando.cli.option.Ranges;
import pando.cli.option.SettingOptions;
import pando.sim.ClusterModel;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The option for settings of the index and constants of the simulator's model. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ModelSettings extends SettingOptions {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  /**
   * Returns the settings of the index, without constants of the simulator's model, in the given
   * order.
   */
  Map<String, String> withoutModel() {
    Map<String, String> others = new LinkedHashMap<>(all());
    others.keySet().removeIf(ClusterModel::has);
    return others;
  }

  /** Returns the simulator's default model, changed by the constants among the settings. */
  ClusterModel model() {
    return model(ClusterModel.defaults());
  }

  /** Returns a model, changed by the constants among the settings. */
  ClusterModel model(ClusterModel defaults) {
    ClusterModel model = defaults;
    for (Map.Entry<String, String> setting : all().entrySet()) {
      if (ClusterModel.has(setting.getKey())) {
        model = with(model, setting.getKey(), setting.getValue());
      }
    }
    return model;
  }

  /** Returns the simulator's model for locks; checks that there are no other settings. */
  ClusterModel modelAlone() {
    boolean isAlone = withoutModel().isEmpty();
    Ranges.check(spec, "--set", isAlone, withoutModel(), "locks take constants of the model alone");
    return model();
  }

  private ClusterModel with(ClusterModel model, String name, String value) {
    try {
      return model.with(name, Double.parseDouble(value));
    } catch (NumberFormatException e) {
      throw refused("'" + value + "' is not a number: " + name, e);
    } catch (IllegalArgumentException e) {
      throw refused(String.valueOf(e.getMessage()), e);
    }
  }
}
