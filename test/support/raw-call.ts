/** A call whose headers are written one by one, so that a name can stand in several lines. */
import { request } from 'node:http';

export type RawAnswer = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** POSTs `body` with these headers, names and values in turn, on a connection of its own. */
export function rawCall(url: string, headers: readonly string[], body: string): Promise<RawAnswer> {
  const all = ['host', new URL(url).host, 'content-length', String(Buffer.byteLength(body)), ...headers];
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent: false, headers: all }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => {
        text += part;
      });
      answer.once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
      answer.once('error', reject);
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** The same name with its letters in other cases: a capital for each that is true. */
export function recased(name: string, capitals: readonly boolean[]): string {
  return [...name].map((letter, at) => (capitals[at] === true ? letter.toUpperCase() : letter)).join('');
}
