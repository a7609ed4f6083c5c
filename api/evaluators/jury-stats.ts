/** The agreement of a jury's members with one another, and of each with the jury. */
import { type Static, Type } from '@sinclair/typebox';
import { membersOf } from '#core/contracts/jury.ts';
import { closed, Nullable, OneOf } from '#core/contracts/shapes.ts';
import { krippendorffAlpha, type RatingLevel, rateOf } from '#core/statistics/mod.ts';
import type { TransactionSql } from '#platform/postgres/mod.ts';
import { RateJson } from './agreement.ts';
import type { Version } from './distribution.ts';

/** Evaluations that count, the latest: reading the judgments of one takes some microseconds. */
const MAX_EVALUATIONS = 2_000;

export const JuryStatsJson = Type.Object(
  {
    evaluations: Type.Integer({
      description: `Completed evaluations that count here: the latest, at most ${MAX_EVALUATIONS}`,
    }),
    level: Type.Unsafe<RatingLevel>({
      ...OneOf(['nominal', 'ordinal', 'interval']),
      description: 'How scores differ: as names, by their order, by their distance',
    }),
    alpha: Nullable(
      Type.Number(),
      "Krippendorff's alpha: 1 when all members agree, 0 when they agree as by chance",
    ),
    alpha_note: Nullable(Type.String(), 'Why there is no alpha'),
    members: Type.Array(
      Type.Object(
        {
          model: Type.String(),
          answered: Type.Integer(),
          failed: Type.Integer(),
          mean: Nullable(Type.Number(), 'Of its scores'),
          like_jury: Nullable(RateJson, "The share of its scores that are the jury's"),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type JuryStatsJson = Static<typeof JuryStatsJson>;

/** A jury's score with those of its members; null: the member gave none. */
type Judged = { score: number; scores: (number | null)[] };

/** Returns the agreement of the jury of a version; null when one judge judges alone. */
export async function juryStats(tx: TransactionSql, version: Version): Promise<JuryStatsJson | null> {
  const { organizationId, evaluatorId, llmTemplate } = version;
  if (llmTemplate?.jury === undefined) return null;
  const judged = await tx<Judged[]>`
    select score, array(select (member ->> 'score')::float8 from jsonb_array_elements(members) with ordinality
                          as given (member, place) order by place) as scores
      from (select score, members from assay.evaluations
             where organization_id = ${organizationId} and evaluator_id = ${evaluatorId} and version = ${version.version}
               and probe = '' and state = 'completed' and members is not null
             order by finished_at desc limit ${MAX_EVALUATIONS}) latest`;
  const level = levelOf(version);
  const alpha = krippendorffAlpha(
    judged.map(({ scores }) => scores),
    level,
  );
  return {
    evaluations: judged.length,
    level,
    alpha: alpha.value,
    alpha_note: alpha.value === null ? `There is no alpha: ${alpha.reason}` : null,
    members: membersOf({ ...llmTemplate, jury: llmTemplate.jury }).map((model, place) =>
      memberStats(model, place, judged),
    ),
  };
}

/** Choices are names unless a rule takes them by their order. */
function levelOf({ scoringType, llmTemplate }: Version): RatingLevel {
  if (scoringType === 'LLM-RANGE') return 'interval';
  return llmTemplate?.jury?.rule === 'median' ? 'ordinal' : 'nominal';
}

function memberStats(
  model: string,
  place: number,
  judged: readonly Judged[],
): JuryStatsJson['members'][number] {
  const given = judged.flatMap(({ score: jury, scores }) => {
    const score = scores[place] ?? null;
    return score === null ? [] : [{ score, isLike: score === jury }];
  });
  const answered = given.length;
  return {
    model,
    answered,
    failed: judged.length - answered,
    // Divided first: the sum of scores may be infinite.
    mean: answered === 0 ? null : given.reduce((sum, { score }) => sum + score / answered, 0),
    like_jury: rateOf(given.filter(({ isLike }) => isLike).length, answered),
  };
}
