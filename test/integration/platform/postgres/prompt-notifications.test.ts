/** The notifications about stored prompts, which processes that cache them listen to. */
import t from 'tap';
import { PROMPTS_CHANNEL } from '#core/contracts/channels.ts';
import { createListener, type Sql, type TransactionSql } from '#platform/postgres/mod.ts';
import { waitFor } from '../../../support/assay.ts';
import { createWorld, silentLog } from '../../../support/world.ts';

let sql: Sql;
let organizationId: string;
const heard: string[] = [];
t.before(async () => {
  const world = await createWorld(t);
  ({ sql } = world);
  ({ organizationId } = await world.organization());
  const listening = Promise.withResolvers<void>();
  const listener = createListener({ sql, log: silentLog }).listen({
    channel: PROMPTS_CHANNEL,
    onNotify: (payload) => heard.push(payload),
    onListening: listening.resolve,
    onLost: () => {},
  });
  t.teardown(() => listener.stop());
  await listening.promise;
});

/** Does `work` in a transaction, and returns the notifications of it. */
async function notificationsOf(work: (tx: TransactionSql) => Promise<unknown>): Promise<string[]> {
  heard.length = 0;
  await sql.begin(work);
  // Postgres sends notifications in the order of the commits.
  await sql`select pg_notify(${PROMPTS_CHANNEL}, 'end')`;
  await waitFor('the last notification', async () => heard.includes('end'));
  return heard.slice(0, -1);
}

t.test(
  'each change of a prompt, a version or an environment notifies once, by the id of the prompt',
  async (t) => {
    let promptId = '';
    const made = await notificationsOf(async (tx) => {
      const [prompt] = await tx`
      insert into assay.prompts (organization_id, name) values (${organizationId}, 'p') returning prompt_id`;
      promptId = prompt!.prompt_id;
      await tx`
      insert into assay.prompt_versions (prompt_id, organization_id, major, minor, body)
      select ${promptId}, ${organizationId}, 1, n, '{}' from generate_series(0, 9) n`;
    });
    t.same(made, [promptId], 'one for a prompt with ten versions');
    const CHANGES: [what: string, statement: string][] = [
      ['a new name', `update assay.prompts set name = 'q' where prompt_id = $1`],
      [
        'a new version',
        `insert into assay.prompt_versions (prompt_id, organization_id, major, minor, body)
       select prompt_id, organization_id, 2, 0, '{}' from assay.prompts where prompt_id = $1`,
      ],
      [
        'a deleted version',
        `update assay.prompt_versions set deleted_at = now() where prompt_id = $1 and major = 2`,
      ],
      [
        'a new environment',
        `insert into assay.prompt_environments (prompt_id, organization_id, environment, version_id)
       select prompt_id, organization_id, 'e', version_id from assay.prompt_versions
       where prompt_id = $1 and major = 1 and minor = 0`,
      ],
      [
        'a moved environment',
        `update assay.prompt_environments set version_id = (
         select version_id from assay.prompt_versions where prompt_id = $1 and major = 1 and minor = 1)
       where prompt_id = $1`,
      ],
      ['a removed environment', 'delete from assay.prompt_environments where prompt_id = $1'],
      ['a deleted prompt', 'update assay.prompts set deleted_at = now() where prompt_id = $1'],
    ];
    for (const [what, statement] of CHANGES)
      t.same(await notificationsOf((tx) => tx.unsafe(statement, [promptId])), [promptId], what);
  },
);
