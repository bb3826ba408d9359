package pando.sim.fabric;

import java.util.function.IntPredicate;
import pando.fabric.Fabric;
import pando.fabric.base.Fences;
import pando.sim.ClusterModel;
import pando.sim.network.Network;

/**
 * The memory servers of a cluster and the way to them, which all its fabrics share.
 *
 * @param memory a fabric over the pool, through which verbs take effect
 * @param processors of the same pool
 * @param network between the servers
 * @param fences of threads that run verbs outside of clients
 * @param model costs in virtual time
 * @param isCrashed returns whether a compute server has crashed
 */
public record SimPool(
    Fabric memory,
    Processors processors,
    Network network,
    Fences fences,
    ClusterModel model,
    IntPredicate isCrashed) {}
