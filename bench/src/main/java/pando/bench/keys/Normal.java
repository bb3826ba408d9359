package pando.bench.keys;

/**
 * The standard normal distribution.
 *
 * <p>Wichura, "Algorithm AS 241: the percentage points of the normal distribution", Applied
 * Statistics 37(3), 1988: three quotients of polynomials, right to 16 digits.
 */
final class Normal {
  private static final double CENTRE = 0.425;
  private static final double TAIL = 5;

  private static final double[] CENTRE_ABOVE = {
    2509.0809287301227,
    33430.57558358813,
    67265.7709270087,
    45921.95393154987,
    13731.69376550946,
    1971.5909503065513,
    133.14166789178438,
    3.3871328727963665
  };
  private static final double[] CENTRE_BELOW = {
    5226.495278852854,
    28729.085735721943,
    39307.89580009271,
    21213.794301586597,
    5394.196021424751,
    687.1870074920579,
    42.31333070160091,
    1
  };
  private static final double[] SIDE_ABOVE = {
    0.0007745450142783414,
    0.022723844989269184,
    0.2417807251774506,
    1.2704582524523684,
    3.6478483247632045,
    5.769497221460691,
    4.630337846156546,
    1.4234371107496835
  };
  private static final double[] SIDE_BELOW = {
    1.0507500716444169e-09,
    0.0005475938084995345,
    0.015198666563616457,
    0.14810397642748008,
    0.6897673349851,
    1.6763848301838038,
    2.053191626637759,
    1
  };
  private static final double[] TAIL_ABOVE = {
    2.0103343992922881e-07,
    2.7115555687434876e-05,
    0.0012426609473880784,
    0.026532189526576124,
    0.29656057182850487,
    1.7848265399172913,
    5.463784911164114,
    6.657904643501103
  };
  private static final double[] TAIL_BELOW = {
    2.0442631033899397e-15,
    1.421511758316446e-07,
    1.8463183175100548e-05,
    0.0007868691311456133,
    0.014875361290850615,
    0.1369298809227358,
    0.599832206555888,
    1
  };

  private Normal() {}

  /**
   * Returns the quantile of a probability: the number below which a draw lies with that
   * probability.
   *
   * @param probability above 0 and below 1
   */
  static double quantile(double probability) {
    double fromCentre = probability - 0.5;
    if (Math.abs(fromCentre) <= CENTRE) {
      double r = CENTRE * CENTRE - fromCentre * fromCentre;
      return fromCentre * (at(r, CENTRE_ABOVE) / at(r, CENTRE_BELOW));
    }
    // StrictMath, so that every process computes the same keys.
    double r = StrictMath.sqrt(-StrictMath.log(Math.min(probability, 1 - probability)));
    double size =
        r <= TAIL
            ? at(r - 1.6, SIDE_ABOVE) / at(r - 1.6, SIDE_BELOW)
            : at(r - TAIL, TAIL_ABOVE) / at(r - TAIL, TAIL_BELOW);
    return Math.copySign(size, fromCentre);
  }

  /** Returns the value of a polynomial, whose highest power comes first. */
  private static double at(double x, double[] coefficients) {
    double value = 0;
    for (double coefficient : coefficients) {
      value = value * x + coefficient;
    }
    return value;
  }
}
