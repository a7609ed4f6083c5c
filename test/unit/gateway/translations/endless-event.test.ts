/** An event without an end, of a provider whose answer is translated. */
import t from 'tap';
import type { AssayError } from '#core/contracts/errors.ts';
import { ResponseBody } from '#platform/http-client/mod.ts';
import { translatedResponse } from '../../../../gateway/response/translated.ts';
import { TRANSLATIONS } from '../../../../gateway/translations/mod.ts';
import { dataOf, messageStart } from '../dialects/streams.ts';

t.test(
  'an event over the size limit in a translated stream ends the call with an error and stops the provider',
  async (t) => {
    const heard: Buffer[] = [];
    const failures: AssayError[] = [];
    let stopped = 0;
    const provider = new ResponseBody({
      pause: () => {},
      resume: () => {},
      stop: () => {
        stopped += 1;
      },
    });
    const { body } = translatedResponse(
      { status: 200, headers: { 'content-type': 'text/event-stream' }, body: provider },
      { translation: TRANSLATIONS['chat by messages'], label: 'ANTHROPIC', created: 0 },
    );
    body.read({
      onData: (chunk) => heard.push(chunk),
      onEnd: () => t.fail('it has not ended'),
      onError: (error) => failures.push(error),
    });
    provider.onData(Buffer.from(`${messageStart()}data: {"x":"`));
    const piece = Buffer.alloc(16 * 1024 * 1024, 'x');
    for (let pieces = 0; pieces < 6; pieces += 1) provider.onData(piece);
    // The end was already on its way when the provider was stopped.
    provider.onEnd();
    t.match(dataOf(Buffer.concat(heard).toString())[0], { choices: [{ delta: { role: 'assistant' } }] });
    t.equal(stopped, 1);
    t.match(failures, [
      {
        code: 'provider_bad_answer',
        message: 'The provider ANTHROPIC sent an event of more than 67108864 bytes',
      },
    ]);
    t.equal(failures.length, 1);
  },
);
