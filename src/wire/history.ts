import { hash } from 'node:crypto';
import { HISTORY_LENGTH, SIGNATURE_LENGTH, type Attempt, type AttemptEnding } from '../domain/attempt.ts';

/**
 * A run's attempts one after the other, in no order, as `shared/attempts.lua` writes them: sequence, time, tool, signature, then what came out: the
 * ending's letter, the result's signature and that of what ran.
 */
const TIME_AT = 4;
const TOOL_AT = TIME_AT + 8;
const RAW_AT = TOOL_AT + 4;
const ENDING_AT = RAW_AT + SIGNATURE_LENGTH;
const RESULT_AT = ENDING_AT + 1;
const EFFECTIVE_AT = RESULT_AT + SIGNATURE_LENGTH;
const SIZE = EFFECTIVE_AT + SIGNATURE_LENGTH;
const NOTHING = '-'.repeat(SIGNATURE_LENGTH);

const ENDING_OF_LETTER: Readonly<Record<string, AttemptEnding>> = {
  '?': 'open',
  o: 'ok',
  f: 'failed',
  r: 'refused',
  b: 'blocked',
  e: 'blocked',
};
const LETTER_OF_ENDING: Readonly<Record<AttemptEnding, string>> = {
  open: '?',
  ok: 'o',
  failed: 'f',
  refused: 'r',
  blocked: 'b',
};
const ENDS_RUN = 'e';

const MOST_TAGS = 1024;
const tags = new Map<string, string>();

/** Names a tool in a history, as the scripts do. */
export function toolTag(tool: string): string {
  let tag = tags.get(tool);
  if (tag === undefined) {
    if (tags.size >= MOST_TAGS) tags.clear();
    tag = hash('sha1', tool, 'hex').slice(0, RAW_AT - TOOL_AT);
    tags.set(tool, tag);
  }
  return tag;
}

export const shortSignature = (digest: string): string => digest.slice(0, SIGNATURE_LENGTH);

/** What came out, as it stands with a settled call. */
export function attemptText({
  ending,
  result = NOTHING,
  effective,
  endsRun,
}: Pick<Attempt, 'ending' | 'result' | 'effective'> & { readonly endsRun?: boolean | undefined }): string {
  const letter = endsRun === true ? ENDS_RUN : LETTER_OF_ENDING[ending];
  return effective === undefined ? letter + result : letter + result + effective;
}

/** The attempts before `sequence`, oldest first. What cannot be read is left out: a history is evidence, not authority. */
export function decodeHistory(bytes: Uint8Array, sequence: number): Attempt[] {
  const history = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const attempts: Attempt[] = [];
  for (let at = 0; at + SIZE <= history.length; at += SIZE) {
    const attempt = decodeAttempt(history.subarray(at, at + SIZE));
    if (attempt !== undefined && attempt.sequence < sequence) attempts.push(attempt);
  }
  attempts.sort((one, other) => one.sequence - other.sequence);
  return attempts.slice(-HISTORY_LENGTH);
}

function decodeAttempt(bytes: Buffer): Attempt | undefined {
  const text = bytes.toString('latin1');
  const ending = ENDING_OF_LETTER[text.charAt(ENDING_AT)];
  if (ending === undefined) return undefined;
  const result = text.slice(RESULT_AT, EFFECTIVE_AT);
  const effective = text.slice(EFFECTIVE_AT);
  return {
    sequence: bytes.readUInt32LE(0),
    tool: text.slice(TOOL_AT, RAW_AT),
    raw: text.slice(RAW_AT, ENDING_AT),
    at: bytes.readDoubleLE(TIME_AT),
    ending,
    ...(effective === NOTHING ? undefined : { effective }),
    ...(result === NOTHING ? undefined : { result }),
  };
}

/** The same bytes from attempts, for a store that keeps them otherwise. */
export function encodeHistory(attempts: readonly Attempt[]): Uint8Array {
  const history = Buffer.alloc(attempts.length * SIZE);
  for (const [index, attempt] of attempts.entries()) {
    const at = index * SIZE;
    history.writeUInt32LE(attempt.sequence, at);
    history.writeDoubleLE(attempt.at, at + TIME_AT);
    const outcome = attemptText({ ...attempt, effective: attempt.effective ?? NOTHING });
    history.write(attempt.tool + attempt.raw + outcome, at + TOOL_AT, 'latin1');
  }
  return history;
}
