import { parseSecretText } from '../../domain/secret/secret-reference.ts';
import { isHarmless, findAssignments } from '../../observe/redact/find-assignments.ts';
import { findCredentials } from '../../observe/redact/find-credentials.ts';
import { isSecretKey } from '../../observe/redact/secret-words.ts';
import { expandVariables, type OpenVariable, type VariableValues } from './expand-variables.ts';

/** A variable of the environment or a header of a server, as it will stand in the output. */
export type Setting =
  | { readonly kind: 'plain'; readonly text: string; readonly open: readonly OpenVariable[]; readonly remark?: string }
  | {
      readonly kind: 'secret';
      /** Text before the secret, such as `Bearer `. */
      readonly prefix: string;
      /** Undefined if a person has to fill it in. */
      readonly value: string | undefined;
      readonly open: readonly OpenVariable[];
      readonly remark?: string;
    }
  /** The text would be read as a reference to a secret of this user. */
  | { readonly kind: 'reference' };

const SCHEME = /^(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4}(?=\S)/i;
const ONE_VARIABLE = /^\$\{[^{}$]+\}$/;
/** The limits of docs/secrets.md. One byte is for the line break at the end of the file. */
const MIN_CHARACTERS = 4;
const MAX_BYTES = 64 * 1024 - 1;

/** Decides whether a value is a secret, by its name and by its shape. */
export function readSetting(name: string, written: string, values: VariableValues): Setting {
  const { text, open, chosen } = expandVariables(written, values);
  const remark = chosen.length === 0 ? {} : { remark: chosen.join('; ') };
  // The attack: a file of a project names a secret of the user, and would be given its value.
  if (parseSecretText(text).kind !== 'plain') return { kind: 'reference' };
  const prefix = SCHEME.exec(text)?.[0] ?? '';
  const rest = text.slice(prefix.length);
  if (open.length > 0) {
    const isWhole = ONE_VARIABLE.test(rest) && open[0]!.kind !== 'other';
    return isWhole
      ? { kind: 'secret', prefix, value: undefined, open, ...remark }
      : { kind: 'plain', text, open, ...remark };
  }
  if (!looksSecret(name, text)) return { kind: 'plain', text, open, ...remark };
  if (rest.trim().length < MIN_CHARACTERS || Buffer.byteLength(rest) > MAX_BYTES) {
    return { kind: 'plain', text, open, remark: 'looks like a secret, but has no length that a secret can have' };
  }
  return { kind: 'secret', prefix, value: rest, open, ...remark };
}

/** Whether a value is a secret: by the name of its variable or header, or by its own shape. */
function looksSecret(name: string, text: string): boolean {
  if (isSecretKey(name)) return !isHarmless(text);
  return findCredentials(text).length > 0 || findAssignments(text).some(([start, end]) => end > start);
}
