/** The standard normal distribution. */

/** Coefficients of W. J. Cody's rational approximations (Math. Comp. 23, 1969; ANORM of ACM algorithm 715, 1993). */
const CENTRE = {
  a: [2.2352520354606837, 161.02823106855587, 1067.6894854603709, 18154.98125334356, 0.06568233791820745],
  b: [47.202581904688245, 976.0985517377767, 10260.932208618979, 45507.78933502673],
} as const;
const MIDDLE = {
  c: [
    0.39894151208813466, 8.883149794388377, 93.50665613217785, 597.2702763948002, 2494.5375852903726,
    6848.190450536283, 11602.65143764735, 9842.714838383978, 1.0765576773720192e-8,
  ],
  d: [
    22.266688044328117, 235.387901782625, 1519.3775994075547, 6485.558298266761, 18615.571640885097,
    34900.95272114598, 38912.00328609327, 19685.429676859992,
  ],
} as const;
const TAIL = {
  p: [
    0.215898534057957, 0.12740116116024736, 0.022235277870649807, 0.0014216191932278934,
    0.000029112874951168793, 0.023073441764940174,
  ],
  q: [
    1.284260096144911, 0.4682382124808651, 0.06598813786892856, 0.0037823963320275824, 0.00007297515550839662,
  ],
} as const;
const INVERSE_ROOT_2_PI = 0.3989422804014327;

/** The ends of Cody's ranges: Φ⁻¹(3/4), and √32. */
const CENTRE_END = 0.67448975;
const MIDDLE_END = 5.656854249492381;
/** Below −38.5 the probability is less than the smallest double. */
const UNDERFLOW = 38.5;

/** Returns the quotient of Cody's two polynomials, whose numerator keeps its first term last. */
function quotient(numerator: readonly number[], denominator: readonly number[], x: number): number {
  const last = denominator.length - 1;
  let above = numerator.at(-1)! * x;
  let below = x;
  for (let index = 0; index < last; index += 1) {
    above = (above + numerator[index]!) * x;
    below = (below + denominator[index]!) * x;
  }
  return (above + numerator[last]!) / (below + denominator[last]!);
}

/** Returns exp(−x²/2) with a small relative error: the square is split so that little of it is rounded. */
function halfSquareExponential(x: number): number {
  const rough = Math.trunc(x * 16) / 16;
  return Math.exp(-0.5 * rough * rough) * Math.exp(-0.5 * (x - rough) * (x + rough));
}

/** Returns the probability beyond `x`, which is at least `CENTRE_END`. */
function upperTail(x: number): number {
  if (x > UNDERFLOW) return 0;
  if (x <= MIDDLE_END) return halfSquareExponential(x) * quotient(MIDDLE.c, MIDDLE.d, x);
  const inverse = 1 / (x * x);
  const correction = inverse * quotient(TAIL.p, TAIL.q, inverse);
  return (halfSquareExponential(x) * (INVERSE_ROOT_2_PI - correction)) / x;
}

/** The 97.5 % point, between which and its negative lie 95 %. */
export const Z95 = 1.959963984540054;

/** Returns the probability that a standard normal variable is at most `z` (W. J. Cody, Math. Comp. 23, 1969). */
export function normalCdf(z: number): number {
  if (Math.abs(z) <= CENTRE_END) return 0.5 + z * quotient(CENTRE.a, CENTRE.b, z * z);
  return z < 0 ? upperTail(-z) : 1 - upperTail(z);
}

const QUANTILE_CENTRE = {
  a: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987,
    67265.7709270087, 33430.57558358813, 2509.0809287301227,
  ],
  b: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852546,
  ],
} as const;
const QUANTILE_MIDDLE = {
  a: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  b: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
} as const;
const QUANTILE_TAIL = {
  a: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 0.000027115555687434876, 2.0103343992922881e-7,
  ],
  b: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133,
    0.000018463183175100548, 1.421511758316446e-7, 2.0442631033899397e-15,
  ],
} as const;

function polynomial(coefficients: readonly number[], x: number): number {
  return coefficients.reduceRight((sum, coefficient) => sum * x + coefficient, 0);
}

function ratio({ a, b }: { a: readonly number[]; b: readonly number[] }, x: number): number {
  return polynomial(a, x) / polynomial(b, x);
}

/**
 * Returns the value that a standard normal variable exceeds with probability 1 − `share` (M. J. Wichura, algorithm AS 241,
 * PPND16, Applied Statistics 37, 1988); ±∞ for 1 and 0, NaN outside of them.
 */
export function normalQuantile(share: number): number {
  if (share === 0 || share === 1) return share === 0 ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const centred = share - 0.5;
  if (Math.abs(centred) <= 0.425) return centred * ratio(QUANTILE_CENTRE, 0.180625 - centred * centred);
  const root = Math.sqrt(-Math.log(Math.min(share, 1 - share)));
  const size = root <= 5 ? ratio(QUANTILE_MIDDLE, root - 1.6) : ratio(QUANTILE_TAIL, root - 5);
  return centred < 0 ? -size : size;
}
