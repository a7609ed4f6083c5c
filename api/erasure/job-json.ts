/** A deletion by filter as a row, and as the API shows it. */
import { type Static, Type } from '@sinclair/typebox';
import { closed, Nullable, OneOf, Timestamp } from '#core/contracts/shapes.ts';

/** A job's states; the last three are final. */
const JOB_STATES = ['running', 'completed', 'cancelled', 'failed'] as const;
type JobState = (typeof JOB_STATES)[number];

export const DeletionJson = Type.Object(
  {
    id: Type.String(),
    state: OneOf(JOB_STATES),
    filter: Type.Unknown({
      description: 'As it was given; null once the job has ended, as it may name what was to be forgotten',
    }),
    deleted: Type.Integer({ description: 'Requests so far' }),
    reached: Nullable(
      Timestamp,
      'The job goes from the newest request back, and every matching one down to this moment is deleted; null: none yet',
    ),
    error: Nullable(Type.String(), 'Why the job failed'),
    created_at: Timestamp,
    updated_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { ...closed, $id: 'Deletion' },
);
export type DeletionJson = Static<typeof DeletionJson>;

export const DeletionCountJson = Type.Object(
  { matching: Type.Integer({ description: 'Requests that pass the filter now' }) },
  { ...closed, $id: 'DeletionCount' },
);
export type DeletionCountJson = Static<typeof DeletionCountJson>;

export type JobRow = {
  job_id: string;
  state: JobState;
  filter: unknown;
  erased: string;
  error: string | null;
  cursor_created_at: Date | null;
  created_at: Date;
  updated_at: Date;
  finished_at: Date | null;
};

/** Returns a job as the API shows it. */
export function deletionJson(row: JobRow): DeletionJson {
  return {
    id: row.job_id,
    state: row.state,
    filter: row.filter,
    deleted: Number(row.erased),
    reached: row.cursor_created_at?.toISOString() ?? null,
    error: row.error,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}
