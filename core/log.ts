import { destination, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './config/mod.ts';

export type { Logger } from 'pino';

/** Fields that hold secrets, wherever an object with them is logged: at the top or one level down. */
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

/**
 * The log of one process: JSON lines on stderr, each with its role. Written synchronously, so that the last line
 * before a crash is there; the services log events, not requests, so this costs nothing on the hot path.
 */
export function createLogger(options: { role: string; level: LogLevel }): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      redact: { paths: redactedPaths(), censor: '[redacted]' },
    },
    destination({ dest: 2, sync: true }),
  );
}
