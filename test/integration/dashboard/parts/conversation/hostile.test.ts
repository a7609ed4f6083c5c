import { storableJson } from '#core/json/mod.ts';
import { story } from '../../../../support/browser/mod.ts';
import { settles } from '../../../../support/browser/settles.ts';
import { startAttacker } from '../../../../support/hostile/attacker.ts';
import { thirdOfHostileTexts } from '../../../../support/hostile/mod.ts';

/** Texts of one record: as many messages as come in one page of a conversation. */
const IN_RECORD = 30;
const OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
const VIEWS = ['view=markdown', 'view=text', 'tab=request', 'tab=response&json=text'];
/** What each of them shows when its body has come. */
const SHOWN = '.conversation-message, [role=treeitem] [role=treeitem], .json-line-number:not(:empty)';

/** Puts each text into every place of a message that the conversation reads. */
function requestOf(texts: readonly string[]): unknown {
  return {
    [texts[0]!]: texts[0],
    __proto: texts,
    tools: [{ type: 'function', function: { name: texts[0], parameters: { [texts[1] ?? 'x']: texts[1] } } }],
    messages: texts.map((text, index) => ({
      role: index % 3 === 0 ? text : 'user',
      name: text,
      content: [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: text } },
        { type: text, value: text },
        { type: 'file', file: { filename: text } },
      ],
    })),
  };
}

function responseOf(texts: readonly string[]): unknown {
  return {
    error: { message: texts[0], type: texts[1], code: texts[2] },
    choices: texts.map((text, index) => ({
      index,
      finish_reason: text,
      message: {
        role: 'assistant',
        content: text,
        reasoning_content: text,
        refusal: text,
        tool_calls: [{ id: text, function: { name: text, arguments: JSON.stringify({ [text]: text }) } }],
      },
    })),
  };
}

story(
  'No text of the corpus runs, asks anybody or violates the policy in a conversation or in its JSON',
  async ({ t, page, organization }) => {
    const attacker = await startAttacker(t);
    const texts = thirdOfHostileTexts(attacker.origin, 1).map(({ text }) => text);
    t.ok(texts.length >= 190, 'the corpus is as large as it should be');
    const groups = Array.from({ length: Math.ceil(texts.length / IN_RECORD) }, (_, index) =>
      texts.slice(index * IN_RECORD, (index + 1) * IN_RECORD),
    );
    const records = await organization.insert(
      groups.map((some) => ({
        status: 500,
        request_text: storableJson(requestOf(some)).text,
        response_text: storableJson(responseOf(some)).text,
      })),
    );
    for (const { request_id } of records) {
      for (const view of VIEWS) {
        await page.goto(`/requests/${request_id}?${view}`);
        await page.locator(SHOWN).first().waitFor({ state: 'attached' });
        await page.evaluate(OPEN_ALL);
        await settles(page);
        t.equal(await page.evaluate('globalThis.__pwned'), undefined, `${request_id} ${view}: nothing ran`);
        t.equal(
          await page.evaluate('({}).polluted'),
          undefined,
          `${request_id} ${view}: no prototype changed`,
        );
      }
    }
    t.same(attacker.asked, [], 'nobody was asked');
  },
);
