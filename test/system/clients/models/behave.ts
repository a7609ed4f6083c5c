/** A scripted model in any dialect: answers, streams, and makes the trouble that the question asks for. */
import type { Behaviour, Ending, RecordedRequest } from '../../../support/scripted-provider.ts';
import { type Asked, type Said, sayTo } from './asked.ts';

/** How a dialect is read and written. */
export type ModelDialect = {
  read(body: Record<string, unknown>): Asked;
  answer(asked: Asked, said: Said): unknown;
  /** The frames of a stream. */
  stream(asked: Asked, said: Said): string[];
  /** How many of the last frames say no more of the answer: a stream that is cut lacks them. */
  endingFrames: number;
  /** The event by which a model that has begun to answer says that it cannot go on. */
  failure(asked: Asked, said: Said): { type: string } & Record<string, unknown>;
  error(status: number, message: string): unknown;
};

/** An event of a stream that says its type twice, as Anthropic's and those of Responses do. */
export function frameOf(event: { type: string } & Record<string, unknown>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Each frame is a write of its own. */
function streamed(frames: string[], ending: Ending = 'end'): Behaviour {
  let offset = 0;
  const at = frames.map((frame) => {
    offset += Buffer.byteLength(frame);
    return offset;
  });
  const headers = { 'content-type': 'text/event-stream; charset=utf-8' };
  return { kind: 'bytes', headers, body: frames.join(''), chunking: { at }, ending };
}

/**
 * What a model of this dialect does with a request. `/status 429`, `/hang`, `/cut` and `/stall` are done instead of
 * answered, as the default script does with them; `/fail` ends a stream in the dialect's own event of failure.
 */
export function behave(dialect: ModelDialect, request: RecordedRequest): Behaviour {
  const asked = dialect.read(JSON.parse(request.body.toString()) as Record<string, unknown>);
  const said = sayTo(asked);
  const [directive, argument] = asked.question.split(' ');
  switch (directive) {
    case '/status': {
      const status = Number(argument);
      const body = dialect.error(status, `Scripted failure with status ${status}`);
      return { kind: 'json', status, body, headers: status === 429 ? { 'retry-after': '1' } : {} };
    }
    case '/hang':
      return { kind: 'hang' };
    case '/cut':
      if (!asked.stream) return { kind: 'cut', at: 'body' };
      return streamed(dialect.stream(asked, said).slice(0, -dialect.endingFrames), 'cut');
    case '/fail': {
      const begun = dialect.stream(asked, said).slice(0, -dialect.endingFrames);
      return streamed([...begun, frameOf(dialect.failure(asked, said))]);
    }
    case '/stall':
      return streamed(dialect.stream(asked, said).slice(0, -dialect.endingFrames), 'stall');
  }
  return asked.stream
    ? streamed(dialect.stream(asked, said))
    : { kind: 'json', body: dialect.answer(asked, said) };
}
