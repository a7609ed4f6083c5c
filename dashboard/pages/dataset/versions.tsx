/** The versions of a dataset, and what differs between two of them. */
import type { DatasetVersionJson } from '#core/contracts/dataset.ts';
import { type KeyNames, useKeyNames } from '../../client/key-names.ts';
import { CopyButton } from '../../parts/copy/copy.tsx';
import { datasetAddress } from '../../parts/datasets/load.ts';
import { Moment } from '../../parts/formats/moment.tsx';
import { count, NOTHING } from '../../parts/formats/numbers.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href, useAddress } from '../../state/address.ts';
import { readDifference } from './address.ts';
import { Difference } from './difference.tsx';

const HASH_SHOWN = 12;

function columnsOf(id: string, names: KeyNames): readonly Column<DatasetVersionJson>[] {
  const versions = { tab: 'versions' };
  return [
    {
      name: 'version',
      title: 'Version',
      isNumber: true,
      cell: ({ version }) => <a href={datasetAddress(id, { version: String(version) })}>{version}</a>,
    },
    {
      name: 'message',
      title: 'What it is for',
      cell: ({ message }) => (
        <span class="break clamped">
          <Hostile text={message} />
        </span>
      ),
    },
    { name: 'items', title: 'Items', isNumber: true, cell: ({ items }) => count(items) },
    {
      name: 'difference',
      title: 'Changes',
      cell: ({ version }) => (
        <a href={datasetAddress(id, { ...versions, from: String(version - 1), to: String(version) })}>
          What changed
        </a>
      ),
    },
    {
      name: 'experiment',
      title: 'Experiment',
      cell: ({ version }) => (
        <a href={href('/experiments/new', { dataset: id, version: String(version) })}>New</a>
      ),
    },
    {
      name: 'by',
      title: 'By',
      cell: ({ created_by: by }) =>
        by === null ? (
          NOTHING
        ) : (
          <span class="break">
            <Hostile text={names.get(by) ?? by} />
          </span>
        ),
    },
    { name: 'when', title: 'When', cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      name: 'hash',
      title: 'Hash',
      cell: ({ version, content_sha256: hash }) => (
        <>
          <code>{hash.slice(0, HASH_SHOWN)}</code>{' '}
          <CopyButton text={hash} what={`hash of version ${version}`} />
        </>
      ),
    },
  ];
}

function Choice({ versions }: { versions: readonly DatasetVersionJson[] }) {
  const { query, set } = useAddress();
  if (versions.length < 2) return null;
  const select = (name: 'from' | 'to', label: string, withNone: boolean) => (
    <select
      aria-label={label}
      value={query[name] ?? ''}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value }, { replace: true })}
    >
      <option value="">Choose a version</option>
      {versions.map(({ version }) => (
        <option key={version} value={version}>
          Version {version}
        </option>
      ))}
      {withNone && <option value="0">Nothing</option>}
    </select>
  );
  return (
    <div class="prompts-search part">
      <span>Compare</span>
      {select('from', 'Version before', true)}
      <span>with</span>
      {select('to', 'Version after', false)}
    </div>
  );
}

/** Shows the versions, the newest first, and the difference that the address asks for. */
export function Versions({
  id,
  versions,
  isLoading,
}: {
  id: string;
  versions: readonly DatasetVersionJson[];
  isLoading: boolean;
}) {
  const { query } = useAddress();
  const names = useKeyNames(versions.map(({ created_by }) => created_by));
  const difference = readDifference(query);
  return (
    <>
      <Table
        caption="Versions"
        columns={columnsOf(id, names)}
        rows={versions}
        keyOf={({ version }) => String(version)}
        isLoading={isLoading}
        empty={<p>There is no version yet: the first items make one.</p>}
      />
      <Choice versions={versions} />
      {difference !== null && <Difference id={id} {...difference} />}
    </>
  );
}
