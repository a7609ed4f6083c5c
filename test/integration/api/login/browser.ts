/** A browser as far as the API can see: it keeps the cookie, and says where its calls come from. */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';

export type BrowserAnswer = {
  status: number;
  /** The value of the header that sets the cookie; '' without one. */
  setCookie: string;
  retryAfter: string | undefined;
  data: unknown;
  error: string | null;
};

export type BrowserCall = {
  method?: string;
  body?: object;
  /** In place of what the browser sends by itself; null: left out. Names in lower case. */
  headers?: Record<string, string | null>;
};

export type Browser = {
  /** Name and value; '' until a log-in. */
  cookie: string;
  call(path: string, options?: BrowserCall): Promise<BrowserAnswer>;
  logIn(body: { key: string } | { token: string }, options?: BrowserCall): Promise<BrowserAnswer>;
};

let browsers = 0;

/** Returns another address of loopback at each call: tries to log in are counted by address. */
function newAddress(): string {
  browsers += 1;
  return `127.0.${1 + (browsers >> 8)}.${browsers & 255}`;
}

/** Opens a page of the API in a new browser, at an address of its own unless one is given. */
export function openBrowser(url: string, address = newAddress()): Browser {
  const browser: Browser = {
    cookie: '',
    call: async (path, { method, body, headers = {} } = {}) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const sent: Record<string, string | null> = {
        'sec-fetch-site': 'same-origin',
        'service-csrf': '1',
        'user-agent': 'Test/1.0',
        cookie: browser.cookie === '' ? null : browser.cookie,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      };
      const given = Object.entries(sent).filter((pair): pair is [string, string] => pair[1] !== null);
      const answer = await send({
        url: `${url}${path}`,
        method: method ?? 'GET',
        headers: Object.fromEntries(given),
        body: text,
        // Calls of another machine come from an address of its own.
        localAddress: new URL(url).hostname.startsWith('127.') ? address : undefined,
      });
      const [name = ''] = answer.setCookie.split(';');
      if (name !== '') browser.cookie = name.endsWith('=') ? '' : name;
      return answer;
    },
    logIn: (body, options = {}) => browser.call('/v1/login', { method: 'POST', body, ...options }),
  };
  return browser;
}

type Sent = {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  localAddress: string | undefined;
};

function send({ url, body, ...sent }: Sent): Promise<BrowserAnswer> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(url, { ...sent, agent: false, rejectUnauthorized: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.once('error', reject);
      response.once('end', () => {
        const json = response.headers['content-type'] === 'application/json' ? JSON.parse(text) : {};
        resolve({
          status: response.statusCode!,
          setCookie: response.headers['set-cookie']?.[0] ?? '',
          retryAfter: response.headers['retry-after'],
          data: json.data ?? null,
          error: json.error ?? null,
        });
      });
    });
    call.once('error', reject);
    call.end(body);
  });
}
