package pando.baselines;

import java.util.List;
import pando.baselines.deft.DeftOptions;
import pando.baselines.emt.EmtOptions;
import pando.baselines.rolex.RolexOptions;
import pando.baselines.sherman.ShermanOptions;
import pando.baselines.smart.SmartOptions;
import pando.index.IndexSystem;
import pando.index.SystemProvider;

/**
 * The systems of papers. A new system is a package of this module, and one line here; {@code
 * module-info.java} exports the package if others use its options.
 */
public final class Baselines implements SystemProvider {
  @Override
  public List<IndexSystem> systems() {
    return List.of(
        ShermanOptions.SHERMAN,
        ShermanOptions.P_SHERMAN,
        ShermanOptions.FG,
        DeftOptions.DEFT,
        RolexOptions.ROLEX,
        RolexOptions.XSTORE_D,
        EmtOptions.EMT_D,
        SmartOptions.SMART,
        SmartOptions.P_SMART);
  }
}
