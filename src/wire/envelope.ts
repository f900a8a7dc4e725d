import { ENVELOPE_VERSION, LIMITS, type Envelope } from '../domain/call.ts';
import { findMessagePackProblem } from './check-message-pack.ts';
import { decode, encode } from './message-pack.ts';

const FIELDS: Record<keyof Envelope, 'string' | 'number' | 'object'> = {
  version: 'number',
  session: 'string',
  run: 'string',
  tool: 'string',
  toolDigest: 'string',
  arguments: 'string',
  key: 'string',
  trace: 'string',
  parent: 'string',
  depth: 'number',
  untrusted: 'object',
};
const OPTIONAL: readonly string[] = ['trace', 'parent', 'untrusted'];

export type DecodedEnvelope =
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  | { readonly kind: 'unknown-version'; readonly version: string }
  | { readonly kind: 'malformed'; readonly problem: string };

export function encodeEnvelope(envelope: Envelope): Uint8Array {
  return encode(envelope);
}

/** Unknown fields refuse the whole envelope: a field that is ignored here could mean something to the sender. */
export function decodeEnvelope(bytes: Uint8Array): DecodedEnvelope {
  // Before decoding: extension types would make the decoder build other things than data.
  if (findMessagePackProblem(bytes) !== undefined) return malformed('it is not plain MessagePack');
  const value = decode(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return malformed('it is not a map');
  const fields = value as Record<string, unknown>;
  if (fields['version'] !== ENVELOPE_VERSION) {
    return { kind: 'unknown-version', version: String(fields['version']).slice(0, 20) };
  }
  for (const name of Object.keys(fields)) {
    const type = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof Envelope] : undefined;
    if (type === undefined) return malformed(`unknown field "${name.slice(0, 40)}"`);
    if (typeof fields[name] !== type || fields[name] === null) return malformed(`field "${name}" must be a ${type}`);
  }
  for (const name of Object.keys(FIELDS)) {
    if (!OPTIONAL.includes(name) && !Object.hasOwn(fields, name)) return malformed(`field "${name}" is missing`);
  }
  const envelope = value as Envelope;
  if (Buffer.byteLength(envelope.arguments) > LIMITS.argumentsBytes) return malformed('the arguments are too large');
  return { kind: 'envelope', envelope };
}

function malformed(problem: string): DecodedEnvelope {
  return { kind: 'malformed', problem };
}
