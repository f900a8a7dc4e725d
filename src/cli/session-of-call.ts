import type { SessionHandle } from '../domain/identity/session.ts';
import { isJsonObject } from '../base/json.ts';
import { parseStrictJson } from '../base/strict-json.ts';
import { unauthorised, usage } from './command-failure.ts';
import { readSecretFile } from './read-secret-file.ts';

export type KnownSession = Pick<SessionHandle, 'id' | 'token' | 'run'>;

const FILE_ENV = 'SALLYPORT_SESSION_FILE';
const TEXT_ENV = 'SALLYPORT_SESSION';

/** Reads the session to call with, as `sessions open` printed it, from a file or the environment. Undefined when a new session is to be opened. */
export function readKnownSession(options: Readonly<Record<string, unknown>>): KnownSession | undefined {
  const file = (options['sessionFile'] as string | undefined) ?? (process.env[FILE_ENV] || undefined);
  const text = file === undefined ? process.env[TEXT_ENV] || undefined : readSecretFile(file);
  if (text === undefined) return undefined;
  for (const name of ['subject', 'agent', 'tenant', 'platform', 'channel', 'unattended']) {
    if (options[name] !== undefined)
      throw usage(`--${name} cannot be used with a session; the session says who calls.`);
  }
  const parsed = parseStrictJson(text);
  const { id, token, run } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  if (typeof id !== 'string' || typeof token !== 'string' || typeof run !== 'string') {
    throw unauthorised(
      `${file ?? TEXT_ENV} does not hold a session.`,
      'Write one with: sallyport sessions open --subject NAME --out FILE',
    );
  }
  return { id, token, run } as KnownSession;
}
