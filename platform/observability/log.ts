import { destination, type LevelWithSilent, type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger } from 'pino';

/** Fields with secrets, redacted in logged objects at the top and two levels down. */
const SECRET_FIELDS = [
  'authorization',
  'serviceAuth',
  '["service-auth"]',
  '["x-api-key"]',
  '["api-key"]',
  'apiKey',
  'bootstrapApiKey',
  'password',
  'databaseUrl',
  'cookie',
  '["set-cookie"]',
];

function redactedPaths(): string[] {
  return SECRET_FIELDS.flatMap((field) => {
    const below = field.startsWith('[') ? `*${field}` : `*.${field}`;
    return [field, below, `*.${below}`];
  });
}

/** Bytes of lines that wait to be written when the reader has no room. Further lines are dropped. */
const MAX_WAITING_BYTES = 64 * 1024;

/**
 * Creates the log of a process: JSON lines on stderr, each with its role. Lines are written synchronously, so that the last
 * one before a crash is there. Roles log events and not requests, so this costs nothing on the hot path.
 */
export function createLogger(options: { role: string; level: LevelWithSilent }): Logger {
  const out = destination({ dest: 2, sync: true, maxLength: MAX_WAITING_BYTES });
  // The disk is full, or the reader of the log is gone: the failure cannot be reported and must not end the process.
  out.on('error', () => {});
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: redactedPaths(), censor: '[redacted]' },
    },
    out,
  );
}
