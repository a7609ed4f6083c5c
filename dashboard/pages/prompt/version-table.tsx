/** The versions of a prompt: what they are, how they do, and what can be done with each. */
import type { PromptVersionJson, VersionEnvironmentBody } from '#core/contracts/prompt.ts';
import { WITHOUT_EXPERIMENTS } from '../../client/sources.ts';
import { count, decimal, dollars, milliseconds } from '../../parts/formats/numbers.ts';
import { ago, fullTime } from '../../parts/formats/times.ts';
import { Environments } from '../../parts/prompts/environments.tsx';
import { versionName } from '../../parts/prompts/load.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';
import { may } from '../../state/me.ts';
import type { VersionUses } from './uses.ts';

export type VersionTableProps = {
  promptId: string;
  versions: readonly PromptVersionJson[];
  uses: VersionUses | null;
  range: string;
  isLoading: boolean;
  /** The version that is shown, and the one that it is compared with. */
  shown: string | null;
  base: string | null;
  onShow: (id: string) => void;
  onCompare: (id: string | null) => void;
  onRemove: (environment: VersionEnvironmentBody) => void;
};

type Row = PromptVersionJson;

function figureColumns({ promptId, uses, range }: VersionTableProps): Column<Row>[] {
  const usesOf = (row: Row) => uses?.byVersion.get(versionName(row));
  const number = (name: string, title: string, value: (row: Row) => string): Column<Row> => ({
    name,
    title,
    isNumber: true,
    cell: (row) => (uses === null ? '…' : value(row)),
  });
  return [
    {
      name: 'requests',
      title: 'Requests',
      isNumber: true,
      cell: (row) =>
        uses !== null && (
          <a
            href={href('/requests', {
              q: `prompt:"${promptId}" prompt_version:"${versionName(row)}" ${WITHOUT_EXPERIMENTS}`,
              range,
            })}
            aria-label={`${count(usesOf(row)?.requests ?? 0)} requests of version ${versionName(row)}`}
          >
            {count(usesOf(row)?.requests ?? 0)}
          </a>
        ),
    },
    number('errors', 'Errors', (row) => count(usesOf(row)?.errors ?? 0)),
    number('cost', 'Cost', (row) => dollars(usesOf(row)?.cost)),
    number('latency', 'Mean latency', (row) => milliseconds(usesOf(row)?.latencyMs)),
    ...(uses?.scores ?? []).map((key, index) =>
      number(`score ${key}`, `Mean ${key}`, (row) => decimal(usesOf(row)?.means[index])),
    ),
  ];
}

/** Shows the versions, the newest first. */
export function VersionTable(props: VersionTableProps) {
  const { promptId, versions, isLoading, shown, base, onShow, onCompare, onRemove } = props;
  const columns: Column<Row>[] = [
    {
      name: 'version',
      title: 'Version',
      cell: (row) => (
        <button type="button" aria-pressed={row.id === shown} onClick={() => onShow(row.id)}>
          {versionName(row)}
        </button>
      ),
    },
    {
      name: 'compare',
      title: 'Diff',
      cell: (row) =>
        row.id !== shown && (
          <button
            type="button"
            class="quiet"
            aria-pressed={row.id === base}
            aria-label={`Compare with ${versionName(row)}`}
            onClick={() => onCompare(row.id === base ? null : row.id)}
          >
            Compare
          </button>
        ),
    },
    {
      name: 'message',
      title: 'What changed',
      cell: (row) => (
        <span class="text-break">
          <Hostile text={row.commit_message} />
        </span>
      ),
    },
    {
      name: 'model',
      title: 'Model',
      cell: ({ model }) =>
        model !== null && (
          <code>
            <Hostile text={model} />
          </code>
        ),
    },
    {
      name: 'environments',
      title: 'Environments',
      cell: ({ id: promptVersionId, environments }) => (
        <Environments
          list={environments.map((name) => ({ name }))}
          onRemove={
            may('write') ? (environment) => onRemove({ promptId, promptVersionId, environment }) : undefined
          }
        />
      ),
    },
    {
      name: 'created',
      title: 'Created',
      cell: ({ created_at }) => (
        <time dateTime={created_at} title={fullTime(created_at)}>
          {ago(created_at, Date.now())}
        </time>
      ),
    },
    ...figureColumns(props),
  ];
  return (
    <Table
      caption="Versions"
      columns={columns}
      rows={versions}
      keyOf={({ id }) => id}
      isLoading={isLoading}
    />
  );
}
