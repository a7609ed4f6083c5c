/**
 * Keys of scores, how far two verdicts on the same responses agree, and what follows for a pass rate. Pure, and without imports
 * that only Node has, so that web pages can use it.
 */
export { scoreKeyOf } from './score-key.ts';
export {
  accuracyOf,
  type Confusion,
  type Correction,
  cohensKappa,
  correctedPassRate,
  correctedPassRateInterval,
  type Interval,
  kappaInterval,
  type Rate,
  rateOf,
  totalOf,
  trueNegativeRate,
  truePositiveRate,
} from './statistics.ts';
