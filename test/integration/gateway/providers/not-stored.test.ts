/** Failures that come under the status 200 are nothing to be given again. */
import t from 'tap';
import { readFixtures } from './fixture.ts';
import { answerOf } from './replay.ts';
import { startWorld } from './world.ts';

const FAILURES = ['error-with-200', 'error-stream', 'vllm-error-stream'];

const fixtures = readFixtures().filter(({ name }) => FAILURES.includes(name));
const { gateway, provider } = await startWorld(t, fixtures);

for (const fixture of fixtures) {
  t.test(
    `a failed response of ${fixture.provider} is not stored in the cache (${fixture.name})`,
    async (t) => {
      provider.script(() => answerOf(fixture));
      const before = provider.requests.length;
      for (const time of ['first', 'second']) {
        const answer = await gateway.chat(fixture.call.body, { 'service-cache-enabled': 'true' });
        await answer.text();
        t.equal(answer.headers.get('service-cache'), 'MISS', `the ${time} time`);
        // A response is stored in the cache before its record is.
        await gateway.record(answer);
      }
      t.equal(provider.requests.length, before + 2);
    },
  );
}
