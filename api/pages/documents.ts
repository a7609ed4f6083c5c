/** The documents that the API serves. Nothing of a record is in them: pages fetch what they show. */

/** Files are named by scripts/dashboard/build.mjs, so their names need no escaping. */
const addressOf = (file: string) => `/assets/${file}`;

function documentOf(head: readonly string[], body: string): string {
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    ...head,
    '</head>',
    `<body>${body}</body>`,
    '</html>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the document that every page of the dashboard begins as. */
export function pageDocument(files: {
  script: string;
  style: string;
  icon: string;
  preloads: readonly string[];
}): string {
  const head = [
    '<meta name="color-scheme" content="light dark">',
    '<title>Assay</title>',
    `<link rel="icon" href="${addressOf(files.icon)}">`,
    `<link rel="stylesheet" href="${addressOf(files.style)}">`,
    ...files.preloads.map((name) => `<link rel="modulepreload" href="${addressOf(name)}">`),
    `<script type="module" src="${addressOf(files.script)}"></script>`,
  ];
  return documentOf(head, '');
}

/** Returns the document of the API reference. */
export function referenceDocument(files: {
  scripts: readonly string[];
  style: string;
  icon: string;
}): string {
  const head = [
    '<title>API reference · Assay</title>',
    `<link rel="icon" href="${addressOf(files.icon)}">`,
    `<link rel="stylesheet" href="${addressOf(files.style)}">`,
    ...files.scripts.map((name) => `<script defer src="${addressOf(name)}"></script>`),
  ];
  return documentOf(head, '<div id="reference"></div>');
}

/** Page that is served while there is no build: without npm nothing has made one. */
export const NOT_BUILT_DOCUMENT = documentOf(
  ['<title>Assay</title>'],
  '<p>The dashboard is not built: <code>npm start</code> builds it, and so does <code>node scripts/build-dashboard.mjs</code> before a start of the API by itself.</p>',
);
