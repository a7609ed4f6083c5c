/** The statistics of trust as callers see them. Pure. */
import { PROBES, type Probe } from '#core/scoring/mod.ts';
import {
  accuracyOf,
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

/** Scores against people's ratings of the same answers. */
export type AgreementJson = {
  /** Scores from here on count as good. */
  threshold: number;
  /** Evaluations whose request was rated. */
  count: number;
  confusion: {
    true_positive: number;
    false_positive: number;
    false_negative: number;
    true_negative: number;
  };
  accuracy: number | null;
  /** Evaluations of rated requests, whatever became of them: failed and skipped ones have no score to compare. */
  rated: number;
  /** The share of those that have a score: accuracy is silent on the rest. Null of none. */
  coverage: number | null;
  kappa: number | null;
  /** 95 %. */
  kappa_interval: Interval | null;
  /** Why there is no interval. */
  kappa_note: string | null;
  /** With 95 % intervals; null when nobody rated an answer good, or bad. */
  true_positive_rate: Rate | null;
  true_negative_rate: Rate | null;
  /** Of all scores, rated or not. */
  pass_rate: Rate | null;
  /** What people would have found, as far as the ratings tell. */
  corrected_pass_rate: number | null;
  /** 95 %. */
  corrected_pass_rate_interval: Interval | null;
  /** Why there is no corrected pass rate, or none of its interval. */
  note: string | null;
};

export type ProbeJson = {
  /** Probes that ended in a score, like the evaluation that they repeat. */
  count: number;
  mean_absolute_difference: number | null;
  /** Those whose score fell on the other side of the threshold. */
  flips: number;
  flip_rate: Rate | null;
};

export type Agreement = Correction & { rated: number };

function noteOf(truePositive: Rate | null, trueNegative: Rate | null, scored: number): string | null {
  if (scored === 0) return 'There are no scores yet';
  if (truePositive === null || trueNegative === null) {
    return 'The pass rate cannot be corrected: it takes scored requests that people rated good, and some that they rated bad';
  }
  if (truePositive.value + trueNegative.value <= 1) {
    return 'The pass rate cannot be corrected: by the ratings, the evaluator is no better than chance';
  }
  return null;
}

function kappaNoteOf(kappa: number | null, interval: Interval | null, count: number): string | null {
  if (interval !== null) return null;
  if (count === 0) return 'There is no kappa: no scored request has been rated';
  if (kappa === null) return 'There is no kappa: evaluator and people say the same of every rated request';
  return 'Kappa has no interval: its standard error cannot be estimated when all verdicts agree with the ratings, or none does';
}

export function agreementJson(threshold: number, agreement: Agreement): AgreementJson {
  const { confusion, passed, scored, rated } = agreement;
  const count = totalOf(confusion);
  const truePositive = truePositiveRate(confusion);
  const trueNegative = trueNegativeRate(confusion);
  const note = noteOf(truePositive, trueNegative, scored);
  const corrected =
    note === null ? correctedPassRate(passed / scored, truePositive!.value, trueNegative!.value) : null;
  const interval = note === null ? correctedPassRateInterval(agreement) : null;
  const kappa = cohensKappa(confusion);
  const ownKappaInterval = kappaInterval(confusion);
  return {
    threshold,
    count,
    confusion: {
      true_positive: confusion.truePositive,
      false_positive: confusion.falsePositive,
      false_negative: confusion.falseNegative,
      true_negative: confusion.trueNegative,
    },
    accuracy: accuracyOf(confusion),
    rated,
    coverage: rated === 0 ? null : count / rated,
    kappa,
    kappa_interval: ownKappaInterval,
    kappa_note: kappaNoteOf(kappa, ownKappaInterval, count),
    true_positive_rate: truePositive,
    true_negative_rate: trueNegative,
    pass_rate: rateOf(passed, scored),
    corrected_pass_rate: corrected,
    corrected_pass_rate_interval: interval,
    note: note ?? (interval === null ? TOO_FEW : null),
  };
}

const TOO_FEW =
  'The corrected pass rate has no interval: the ratings are too few to tell the evaluator from one that guesses';

export type ProbeSum = { probe: Probe; count: number; flips: number; difference: number | null };

/** Every probe, those that were never made too. */
export function probeJson(sums: readonly ProbeSum[]): Record<Probe, ProbeJson> {
  const entries = PROBES.map((probe): [Probe, ProbeJson] => {
    const { count, flips, difference } = sums.find((sum) => sum.probe === probe) ?? NONE;
    return [probe, { count, mean_absolute_difference: difference, flips, flip_rate: rateOf(flips, count) }];
  });
  return Object.fromEntries(entries) as Record<Probe, ProbeJson>;
}

const NONE = { count: 0, flips: 0, difference: null };
