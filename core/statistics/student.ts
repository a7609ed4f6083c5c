/** Student's t distribution. */
import { normalQuantile } from './normal.ts';

/** From here on the expansion below is exact to 10⁻¹¹; up to here the series has few terms. */
const MANY_DEGREES = 1_000;
/** Newton's method doubles the digits with each step, from a start that is right to one digit or two. */
const STEPS = 12;

/**
 * Returns the probability that |T| is less than `t`, by the series in the angle for whole degrees of freedom (M. Abramowitz
 * and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4), from 2 on.
 */
function centralProbability(t: number, degrees: number): number {
  const angle = Math.atan(t / Math.sqrt(degrees));
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
  const isOdd = degrees % 2 === 1;
  let term = isOdd ? cosine : 1;
  let sum = term;
  for (let index = isOdd ? 3 : 2; index < degrees; index += 2) {
    term *= (cosine * cosine * (index - 1)) / index;
    sum += term;
  }
  return isOdd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
}

/** Returns the quantile for many degrees of freedom by the expansion in their reciprocal (Abramowitz and Stegun, 26.7.5). */
function expandedQuantile(z: number, degrees: number): number {
  const square = z * z;
  const first = (z * (square + 1)) / 4;
  const second = (z * ((5 * square + 16) * square + 3)) / 96;
  const third = (z * (((3 * square + 19) * square + 17) * square - 15)) / 384;
  return z + (first + (second + third / degrees) / degrees) / degrees;
}

/**
 * Returns the value that |T| exceeds with probability `alpha`.
 * @param degrees of freedom, a whole number from 1
 */
export function studentQuantile(alpha: number, degrees: number): number {
  const z = normalQuantile(1 - alpha / 2);
  if (degrees === 1) return Math.tan((Math.PI / 2) * (1 - alpha));
  let t = expandedQuantile(z, degrees);
  if (degrees >= MANY_DEGREES) return t;
  // Below its root the probability is concave, so that from there Newton's method rises to the root and does not pass it.
  t = Math.min(t, z);
  // The density, up to a constant that is found from the probability of a small range.
  const small = 1e-4;
  const constant = centralProbability(small, degrees) / small;
  for (let step = 0; step < STEPS; step += 1) {
    const slope = constant * (1 + (t * t) / degrees) ** (-(degrees + 1) / 2);
    t += (1 - alpha - centralProbability(t, degrees)) / slope;
  }
  return t;
}
