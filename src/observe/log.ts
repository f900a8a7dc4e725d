import { pino, stdSerializers, type LevelWithSilent } from 'pino';
import type { Log } from '../domain/ports/log.ts';

/**
 * Logs one JSON object per line to standard error; standard output belongs to commands. Every line has a stage: a stage of the data path
 * if it is about a call, or `operate` if it is about the plane itself, as in the table of errors.
 */
export function createLog(level: LevelWithSilent, name = 'sallyport'): Log {
  return pino(
    {
      name,
      level,
      formatters: { log: (facts) => ('stage' in facts ? facts : { stage: 'operate', ...facts }) },
      serializers: { error: stdSerializers.err },
      // Fields with these names hold values that a reader of logs must not see.
      redact: { paths: ['token', '*.token', 'password', '*.password', 'tokenDigest', '*.tokenDigest'], censor: '***' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
