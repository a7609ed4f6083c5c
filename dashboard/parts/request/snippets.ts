/** The call of a request, for a terminal and for programs. The key is left out: its place names a variable. */
import { isRawNumber, parseExactJson } from '#core/json-values/mod.ts';

export type SnippetKind = 'curl' | 'javascript' | 'python';

export type SnippetCall = {
  gatewayUrl: string;
  /** The path of the call, such as /v1/chat/completions. */
  path: string;
  /** The body as JSON. */
  body: string;
};

/** Quotes for a shell: within single quotes all characters are themselves. */
function shellQuoted(text: string): string {
  const escaped = text.replaceAll("'", "'\\''");
  return `'${escaped}'`;
}

/**
 * Writes a JSON value as Python does. A JSON string is one of Python, too.
 * @internal for tests
 */
export function pythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value === 'object' && !isRawNumber(value)) {
    const members = Object.entries(value).map(
      ([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`,
    );
    return `{${members.join(', ')}}`;
  }
  return JSON.stringify(value);
}

function curl({ gatewayUrl, path, body }: SnippetCall): string {
  return [
    `curl ${shellQuoted(gatewayUrl + path)} \\`,
    '  -H "Authorization: Bearer $ASSAY_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d ${shellQuoted(body)}`,
  ].join('\n');
}

function javascript({ gatewayUrl, path, body }: SnippetCall): string {
  const [written, exact] = [JSON.parse, parseExactJson].map((parse) => JSON.stringify(parse(body), null, 2));
  // Numbers of programs are doubles: a body with others, such as 64-bit integers, is sent as its text.
  const value =
    written === exact ? `JSON.stringify(${written!.replaceAll('\n', '\n  ')})` : JSON.stringify(body);
  return [
    `const response = await fetch(${JSON.stringify(gatewayUrl + path)}, {`,
    "  method: 'POST',",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program that is written has the placeholder
    "  headers: { authorization: `Bearer ${process.env.ASSAY_API_KEY}`, 'content-type': 'application/json' },",
    `  body: ${value},`,
    '});',
    // Text: streams are no JSON.
    'console.log(await response.text());',
  ].join('\n');
}

function python({ gatewayUrl, path, body }: SnippetCall): string {
  return [
    'import json, os, urllib.request',
    '',
    `body = ${pythonLiteral(parseExactJson(body))}`,
    'request = urllib.request.Request(',
    `    ${JSON.stringify(gatewayUrl + path)},`,
    '    data=json.dumps(body).encode(),',
    '    headers={"Authorization": f"Bearer {os.environ[\'ASSAY_API_KEY\']}", "Content-Type": "application/json"},',
    ')',
    'print(urllib.request.urlopen(request).read().decode())',
  ].join('\n');
}

const WRITERS = { curl, javascript, python };

/** Writes a call that can be run as it is, with the key in ASSAY_API_KEY. */
export function snippet(kind: SnippetKind, call: SnippetCall): string {
  return WRITERS[kind](call);
}
