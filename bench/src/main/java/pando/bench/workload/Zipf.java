package pando.bench.workload;

import java.util.SplittableRandom;

/**
 * Draws ranks from 1 to n, rank r with a chance in proportion to r^-theta. Exact, in constant time
 * and space, for every theta from 0 on.
 *
 * <p>Rejection-inversion by Hörmann and Derflinger, "Rejection-inversion to generate variates from
 * monotone discrete distributions", ACM TOMACS 6(3), 1996. Immutable.
 */
final class Zipf {
  /*
   * The histogram of the weights r^-theta lies under the hull h(x) = x^-theta, shifted by half a
   * rank. A point uniform under the hull is drawn by inverting the hull's integral H; the rank it
   * rounds to is taken if the point is under the histogram too. A point within `squeeze` left of its
   * rank always is, which spares most draws the evaluation of H.
   *
   * H(x) is (x^(1-theta) - 1) / (1-theta), and log(x) at theta 1. Both it and its inverse are
   * written with expm1 and log1p so that they are smooth through theta 1.
   */
  private final long ranks;
  private final double theta;
  private final double areaFirst;
  private final double areaLast;
  private final double squeeze;

  Zipf(long ranks, double theta) {
    if (ranks < 1 || !(theta >= 0) || Double.isInfinite(theta)) {
      throw new IllegalArgumentException(
          "Zipf needs ranks >= 1 and theta >= 0: ranks=" + ranks + ", theta=" + theta);
    }
    this.ranks = ranks;
    this.theta = theta;
    areaFirst = area(1.5) - 1;
    areaLast = area((double) ranks + 0.5);
    squeeze = 2 - areaInverse(area(2.5) - hull(2));
  }

  long next(SplittableRandom random) {
    for (; ; ) {
      double u = areaLast + random.nextDouble() * (areaFirst - areaLast);
      double x = areaInverse(u);
      long rank = Math.clamp((long) (x + 0.5), 1, ranks);
      if (rank - x <= squeeze || u >= area(rank + 0.5) - hull((double) rank)) {
        return rank;
      }
    }
  }

  private double hull(double x) {
    return Math.exp(-theta * Math.log(x));
  }

  private double area(double x) {
    double log = Math.log(x);
    double t = (1 - theta) * log;
    return Math.abs(t) < 1e-8 ? log * (1 + t / 2) : log * Math.expm1(t) / t;
  }

  private double areaInverse(double area) {
    double t = Math.max(-1, (1 - theta) * area);
    return Math.exp(Math.abs(t) < 1e-8 ? area * (1 - t / 2) : area * Math.log1p(t) / t);
  }
}
