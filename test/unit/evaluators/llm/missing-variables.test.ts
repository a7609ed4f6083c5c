/** Prompts with variables that a record does not have. */
import fc from 'fast-check';
import t from 'tap';
import { parseTemplate, renderTemplate } from '#core/scoring/mod.ts';
import { SCALES } from '../../../support/judge/judge-answers.ts';
import { ask, error, SUBJECT, scriptedJudge, verdict } from '../../../support/judge/scripted-judge.ts';

const ofPrompt = (prompt: string) => ({ template: { ...SCALES.range.template, prompt } });

t.test(
  'a verdict over a record that lacks a variable of the prompt has a warning that names it',
  async (t) => {
    const prompt =
      '{{response.chioces}} {{output}} {{inputs.audience}} {{properties.Team}} {{response.chioces}} {{request.model}}';
    const { outcome, warnings } = await ask(scriptedJudge(verdict(4)), ofPrompt(prompt));
    t.match(outcome, { state: 'completed', score: 4 });
    t.strictSame(warnings, [
      'response.chioces is missing in this record',
      'inputs.audience is missing in this record',
      'properties.Team is missing in this record',
    ]);
  },
);

t.test('a failed judgment of a record that lacks a variable has a warning that names it', async (t) => {
  const { outcome, warnings } = await ask(
    scriptedJudge(verdict('none')),
    ofPrompt('{{output}} {{inputs.audience}}'),
  );
  t.match(outcome, { state: 'failed', code: 'judge_malformed' });
  t.strictSame(warnings, ['inputs.audience is missing in this record']);
});

t.test(
  'a record that has all variables gives no warning, even where one is null or empty in it',
  async (t) => {
    const subject = { ...SUBJECT, response: { choices: null, text: '', list: [] } };
    const prompt = '{{response.choices}} {{response.text}} {{response.list}} {{input}}';
    const { warnings } = await ask(scriptedJudge(verdict(4)), { ...ofPrompt(prompt), subject });
    t.strictSame(warnings, []);
    t.strictSame((await ask(scriptedJudge(verdict(4)), ofPrompt('Is it polite?'))).warnings, []);
  },
);

t.test('a record that lacks all variables of the prompt is skipped, and no judge is called', async (t) => {
  const call = scriptedJudge(error(500, 'never asked'));
  const { outcome, use, prompt } = await ask(call, ofPrompt('{{response.chioces}} or {{inputs.audience}}?'));
  t.strictSame(outcome, {
    state: 'skipped',
    reason: 'variables_missing',
    message: 'All variables of the prompt are missing in this record: response.chioces, inputs.audience',
  });
  t.equal(use, null);
  t.equal(prompt, 'null or null?');
  t.equal(call.requests.length, 0);
});

t.test('a missing variable with a very long name is shortened in messages and warnings', async (t) => {
  const long = `response.${'a'.repeat(60_000)}`;
  const { warnings = [] } = await ask(scriptedJudge(verdict(4)), ofPrompt(`{{output}} {{${long}}}`));
  t.equal(warnings.length, 1);
  t.ok(warnings[0]!.length < 200, warnings.join());
  const { outcome } = await ask(scriptedJudge(verdict(4)), ofPrompt(`{{${long}}}`));
  t.match(outcome, { state: 'skipped' });
  t.ok(outcome.state === 'skipped' && outcome.message.length <= 500);
});

t.test('a path is missing exactly when it leads to no value in the body, for any path and body', async () => {
  const step = fc.constantFrom('a', 'b', '0', '1', 'length', 'constructor', '__proto__');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
      async (paths) => {
        const response = { a: { a: null, b: [{ a: 1 }] }, b: [0, ['x']], '0': false };
        // An independent oracle: the entries of an object or an array, by their names.
        const leads = (path: string[]) => {
          let rest: unknown = response;
          for (const name of path) {
            const members = JSON.stringify(rest)?.match(/^[{[]/) ? Object.entries(rest as object) : [];
            const found = members.find(([member]) => member === name);
            if (found === undefined) return false;
            rest = found[1];
          }
          return true;
        };
        const prompt = paths.map((path) => `{{response.${path.join('.')}}}`).join(' ');
        const { missing } = renderTemplate(parseTemplate(prompt), { ...SUBJECT, response });
        const expected = paths.filter((path) => !leads(path)).map((path) => `response.${path.join('.')}`);
        return JSON.stringify([...new Set(expected)]) === JSON.stringify(missing);
      },
    ),
  );
});
