/** The demo's model provider: local, so that no key is needed, and with answers that look like a model's. */

import { lastUserText, parseChatRequest, words } from '../../test/support/scripted/openai-dialect.ts';
import {
  type Behaviour,
  defaultScript,
  type RecordedRequest,
  type ScriptedProvider,
  startScriptedProvider,
} from '../../test/support/scripted-provider.ts';
import { QUESTIONS } from './conversations.ts';

const FIRST_TOKEN_MS = 30;
const TOKEN_MS = 6;

/** Known questions get their answers; the rest, with the tools and the failures, is the default's. */
function answer(request: RecordedRequest): Behaviour {
  const chat = parseChatRequest(request.body);
  const asked = lastUserText(chat);
  const known = QUESTIONS.find(({ question }) => question === asked);
  if (known === undefined || chat.tools !== undefined) return defaultScript(request);
  if (chat.stream !== true) {
    const delayMs = FIRST_TOKEN_MS + TOKEN_MS * words(known.answer).length;
    return { kind: 'answer', text: known.answer, delayMs };
  }
  return { kind: 'stream', deltas: words(known.answer), delayMs: FIRST_TOKEN_MS, everyMs: TOKEN_MS };
}

/** Starts it on a free port. */
export async function startDemoProvider(): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider();
  provider.script(answer);
  return provider;
}
