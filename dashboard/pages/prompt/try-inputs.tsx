/** Tries a version on the inputs of requests that were made with the prompt. */
import type { PromptVersionJson } from '#core/contracts/prompt.ts';
import type { RequestRow, RowPage } from '#core/contracts/rows.ts';
import { call } from '../../client/call.ts';
import { useResource } from '../../client/resource.ts';
import { FailureNotice } from '../../parts/failure/failure.tsx';
import { Moment } from '../../parts/formats/moment.tsx';
import { versionName } from '../../parts/prompts/load.ts';
import { type Column, Table } from '../../parts/table/table.tsx';
import { Hostile } from '../../parts/text/hostile.tsx';
import { href } from '../../state/address.ts';

const MOST = 10;
const COLUMNS = ['request_created_at', 'prompt_version', 'model', 'preview_in', 'preview_out'];

/** Returns the address of the playground with a version, and with the inputs of a request that used one. */
function tryAddress(version: PromptVersionJson, used: string, requestId: string): string {
  return href('/playground', {
    'column.1.prompt': version.prompt_id,
    'column.1.version': version.id,
    'column.1.inputs': requestId,
    'column.1.used': used === version.id ? null : used,
  });
}

/** Lists the newest requests of the prompt. */
export function TryInputs({
  version,
  versions,
}: {
  version: PromptVersionJson;
  versions: readonly PromptVersionJson[];
}) {
  const { prompt_id: promptId } = version;
  const { data, failure, isLoading, reload } = useResource(`prompt requests ${promptId}`, (signal) =>
    call<RowPage>(
      'POST',
      '/v1/request/rows',
      { q: `prompt:"${promptId}"`, columns: COLUMNS, limit: MOST },
      signal,
    ),
  );
  const usedBy = new Map(versions.map((one) => [versionName(one), one.id]));
  const columns: Column<RequestRow>[] = [
    {
      name: 'when',
      title: 'When',
      cell: ({ request_created_at: at }) => at !== undefined && <Moment at={at} />,
    },
    { name: 'version', title: 'Version', cell: ({ prompt_version: used }) => used },
    { name: 'in', title: 'Question', cell: ({ preview_in: text }) => <Hostile text={text ?? ''} /> },
    { name: 'out', title: 'Answer', cell: ({ preview_out: text }) => <Hostile text={text ?? ''} /> },
    {
      name: 'try',
      title: 'Action',
      cell: ({ request_id: id, prompt_version: used }) => {
        const usedId = usedBy.get(used ?? '');
        // A version that has been deleted has no inputs, either.
        return usedId !== undefined && <a href={tryAddress(version, usedId, id)}>Try its inputs</a>;
      },
    },
  ];
  return (
    <section class="prompt-try">
      <h2>Try version {versionName(version)} on stored inputs</h2>
      <FailureNotice failure={failure} retry={reload} />
      <Table
        caption="Newest requests of the prompt"
        columns={columns}
        rows={data?.rows ?? []}
        keyOf={({ request_id }) => request_id}
        isLoading={isLoading}
        empty="No request was made with this prompt yet."
      />
    </section>
  );
}
