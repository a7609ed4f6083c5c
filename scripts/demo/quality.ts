/** A stored prompt that is called, and an evaluator that has graded the week: what the dashboard's pages of both show. */
import type OpenAI from 'openai';
import type { Api } from './api.ts';
import { QUESTIONS } from './conversations.ts';

const PROMPT = '/v1/prompt-2025';
/** Calls of each version. */
const CALLS = 8;

const INSTRUCTIONS = 'You help customers of {{company}}.';
const VERSIONS = [
  { message: 'First version', text: `${INSTRUCTIONS} Answer every question.` },
  { message: 'Shorter answers', text: `${INSTRUCTIONS} Answer in at most {{sentences:number}} sentences.` },
];

const bodyOf = (text: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'system', content: text }] });

/** Stores a prompt with two versions. */
async function storePrompt(api: Api): Promise<{ id: string; versions: string[] }> {
  const [first, second] = VERSIONS as [(typeof VERSIONS)[number], (typeof VERSIONS)[number]];
  const created = await api.call<{ id: string; versionId: string }>('POST', PROMPT, {
    name: 'Support answer',
    tags: ['support'],
    promptBody: bodyOf(first.text),
  });
  const updated = await api.call<{ id: string }>('POST', `${PROMPT}/update`, {
    promptId: created.id,
    promptVersionId: created.versionId,
    newMajorVersion: false,
    commitMessage: second.message,
    promptBody: bodyOf(second.text),
    environment: 'staging',
  });
  return { id: created.id, versions: [created.versionId, updated.id] };
}

/** Calls both versions of a prompt as an application would. */
export async function callPrompt(api: Api, client: OpenAI): Promise<void> {
  const { id, versions } = await storePrompt(api);
  for (let index = 0; index < CALLS * versions.length; index += 1) {
    const { question } = QUESTIONS[index % QUESTIONS.length]!;
    const body = {
      model: 'gpt-4o-mini',
      prompt_id: id,
      version_id: versions[index % versions.length],
      inputs: { company: 'Acme', sentences: 2 },
      messages: [{ role: 'user' as const, content: question }],
    };
    await client.chat.completions.create(body);
  }
}

const CODE = `def evaluate(input, output):
    """1 for an answer of up to twelve words, less for a longer one."""
    words = len(output.split())
    return round(min(1, 12 / max(words, 1)), 2)
`;

/** Grades all that is logged with an evaluator in Python, and what comes from now on. */
export async function gradeAnswers(api: Api): Promise<void> {
  const { id } = await api.call<{ id: string }>('POST', '/v1/evaluator', {
    name: 'Brevity',
    scoring_type: 'PYTHON',
    code_template: { code: CODE },
  });
  const evaluator = `/v1/evaluator/${id}`;
  await api.call('POST', `${evaluator}/onlineEvaluators`, { config: { sampleRate: 100 } });
  await api.call('POST', `${evaluator}/run`, { q: 'status:200', limit: 1_000, batch: true });
}
