/** The line that a chat system shows for an event. Pure. */
import { isObject, type JsonObject } from '#core/json/mod.ts';
import { cutToBytes } from '#core/text/mod.ts';
import type { Job } from './claim.ts';
import type { Content } from './content.ts';

/** Longer lines are folded or refused by chat systems. */
const LONGEST_LINE_BYTES = 2_000;

/**
 * Returns the line. `<`, `>` and `&` are written as Slack asks for: names that callers chose must not become links or
 * mentions.
 */
export function chatText(job: Job, content: Content | null): string {
  const line = `${lineOf(job, content)}${job.requestId === null ? '' : ` (request ${job.requestId})`}`;
  const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return cutToBytes(escaped.replaceAll(/\s+/g, ' '), LONGEST_LINE_BYTES, '…');
}

function lineOf({ event, details }: Job, content: Content | null): string {
  const about = (name: string): JsonObject => {
    const found = details?.[name];
    return isObject(found) ? found : {};
  };
  switch (event) {
    case 'request.logged': {
      const { model, response_status: status, delay_ms: ms, cost } = content?.thin ?? {};
      return `${model} answered ${status}${ms == null ? '' : ` in ${ms} ms`}${cost == null ? '' : ` for ${cost} USD`}`;
    }
    case 'score.written': {
      const { key, value } = about('score');
      return value === null ? `Score ${key} was taken back` : `Score ${key} is ${value}`;
    }
    case 'feedback.written': {
      const { rating } = about('feedback');
      return rating === null ? 'Feedback was taken back' : `Feedback is ${rating === true ? 'good' : 'bad'}`;
    }
    case 'evaluation.completed': {
      const { id, score } = about('evaluation');
      return `Evaluation ${id} is completed${score == null ? '' : ` with ${score}`}`;
    }
    case 'limit.reached': {
      const { user_id: user, api_key_id: key } = about('limit');
      return `A rate limit was reached by ${user === null ? `API key ${key}` : `user ${user}`}`;
    }
    case 'request.deleted':
      return 'A request was erased';
    case 'evaluator.paused': {
      const { name, reason, message } = about('evaluator');
      return `Evaluator ${name} is paused: ${message ?? reason}`;
    }
    case 'alert.fired':
      return `Alert fired: ${alertLine(about('alert'))}`;
    case 'alert.resolved':
      return `Alert resolved: ${alertLine(about('alert'))}`;
    case 'webhook.test':
      return 'This is a test of a webhook of Assay';
  }
}

/** Returns the name of an alert with its message, or with its value. */
function alertLine({ name, message, value, threshold }: JsonObject): string {
  if (typeof message === 'string') return `${name}: ${message}`;
  const said = value === undefined || value === null ? '' : `, value ${value}`;
  return `${name}${said}${threshold === undefined || threshold === null ? '' : `, threshold ${threshold}`}`;
}
