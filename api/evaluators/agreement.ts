/** The statistics of trust as the API shows them. Pure. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf } from '#core/contracts/shapes.ts';
import { PROBES, type Probe } from '#core/scoring/mod.ts';
import {
  accuracyOf,
  type Correction,
  correctedPassRate,
  correctedPassRateInterval,
  kappaInterval,
  kappaOf,
  type Rate,
  rateOf,
  totalOf,
  trueNegativeRate,
  truePositiveRate,
} from '#core/statistics/mod.ts';
import type { Basis } from './basis.ts';

const IntervalJson = Type.Object({ low: Type.Number(), high: Type.Number() }, closed);
export const RateJson = Type.Object(
  { value: Type.Number(), low: Type.Number(), high: Type.Number() },
  { ...closed, description: 'With its 95 % interval' },
);

/** Scores against what people say of the same responses: by the evaluator's criterion, else by rating them. */
export const AgreementJson = Type.Object(
  {
    basis: OneOf(['criterion', 'feedback']),
    basis_note: Nullable(Type.String(), 'Why the grades of the tied criterion are not used'),
    criterion_id: Nullable(Type.String(), 'The criterion whose grades stand for ratings here'),
    ties: Type.Integer({
      description: 'Evaluations of requests that as many people found good as bad; left out of all else',
    }),
    threshold: Type.Number({ description: 'Scores from here on count as good' }),
    count: Type.Integer({ description: 'Scored evaluations whose request was rated' }),
    confusion: Type.Object(
      {
        true_positive: Type.Integer(),
        false_positive: Type.Integer(),
        false_negative: Type.Integer(),
        true_negative: Type.Integer(),
      },
      closed,
    ),
    accuracy: Nullable(Type.Number()),
    rated: Type.Integer({
      description: 'Evaluations of rated requests; failed and skipped ones have no score to compare',
    }),
    coverage: Nullable(Type.Number(), 'The share of those that have a score: accuracy is silent on the rest'),
    kappa: Nullable(Type.Number()),
    kappa_interval: Nullable(IntervalJson, '95 %'),
    kappa_note: Nullable(Type.String(), 'Why there is no kappa'),
    true_positive_rate: Nullable(RateJson, 'Null when no response was rated good'),
    true_negative_rate: Nullable(RateJson, 'Null when no response was rated bad'),
    pass_rate: Nullable(RateJson, 'Of all scores, rated or not'),
    corrected_pass_rate: Nullable(Type.Number(), 'What people would have found, as far as the ratings tell'),
    corrected_pass_rate_interval: Nullable(IntervalJson, '95 %'),
    note: Nullable(Type.String(), 'Why there is no corrected pass rate, or none of its interval'),
  },
  closed,
);
export type AgreementJson = Static<typeof AgreementJson>;

export const ProbeJson = Type.Object(
  {
    count: Type.Integer({
      description: 'Probes that ended in a score, like the evaluation that they repeat',
    }),
    mean_absolute_difference: Nullable(Type.Number()),
    flips: Type.Integer({ description: 'Those whose score fell on the other side of the threshold' }),
    flip_rate: Nullable(RateJson),
  },
  closed,
);
export type ProbeJson = Static<typeof ProbeJson>;

export type Agreement = Correction & { rated: number; ties: number };

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

function kappaNoteOf(kappa: number | null, count: number): string | null {
  if (kappa !== null) return null;
  return count === 0
    ? 'There is no kappa: no scored request has been rated'
    : 'There is no kappa: evaluator and people say the same of every rated request';
}

export function agreementJson(threshold: number, agreement: Agreement, basis: Basis): AgreementJson {
  const { confusion, passed, scored, rated, ties } = agreement;
  const count = totalOf(confusion);
  const truePositive = truePositiveRate(confusion);
  const trueNegative = trueNegativeRate(confusion);
  const note = noteOf(truePositive, trueNegative, scored);
  const corrected =
    note === null ? correctedPassRate(passed / scored, truePositive!.value, trueNegative!.value) : null;
  const interval = note === null ? correctedPassRateInterval(agreement) : null;
  const kappa = kappaOf(confusion);
  return {
    basis: basis.kind,
    basis_note: basis.kind === 'feedback' ? basis.note : null,
    criterion_id: basis.kind === 'criterion' ? basis.criterionId : null,
    ties,
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
    kappa_interval: kappaInterval(confusion),
    kappa_note: kappaNoteOf(kappa, count),
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

/** All kinds of probes, including those that were never made. */
export function probeJson(sums: readonly ProbeSum[]): Record<Probe, ProbeJson> {
  const entries = PROBES.map((probe): [Probe, ProbeJson] => {
    const { count, flips, difference } = sums.find((sum) => sum.probe === probe) ?? NONE;
    return [probe, { count, mean_absolute_difference: difference, flips, flip_rate: rateOf(flips, count) }];
  });
  return Object.fromEntries(entries) as Record<Probe, ProbeJson>;
}

const NONE = { count: 0, flips: 0, difference: null };
