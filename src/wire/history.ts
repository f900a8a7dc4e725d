import { hash } from 'node:crypto';
import {
  HISTORY_LENGTH,
  SIGNATURE_LENGTH,
  type Attempt,
  type AttemptEnding,
  type RunHistory,
} from '../domain/attempt.ts';

/**
 * A run's attempts one after the other, in no order, as `shared/attempts.lua` writes them: sequence, time, tool, signature, then what came out: the
 * ending's letter, the result's signature and that of what ran.
 */
const TIME_AT = 4;
const TOOL_AT = TIME_AT + 8;
const TOOL_TAG_LENGTH = 4;
const RAW_AT = TOOL_AT + TOOL_TAG_LENGTH;
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
const ENDING_OF_BYTE = Array.from({ length: 256 }, (_, byte) => ENDING_OF_LETTER[String.fromCharCode(byte)]);

const MOST_TAGS = 16_384;
const tags = new Map<string, string>();

/** Names a tool in a history, as the scripts do. */
export function toolTag(tool: string): string {
  let tag = tags.get(tool);
  if (tag === undefined) {
    if (tags.size >= MOST_TAGS) tags.clear();
    tag = hash('sha1', tool, 'hex').slice(0, TOOL_TAG_LENGTH);
    tags.set(tool, tag);
  }
  return tag;
}

const letters = new DataView(new ArrayBuffer(SIGNATURE_LENGTH));

/**
 * A signature as the number that its eight bytes are. As letters they are below 128, so that it is a positive number, never NaN, and
 * another one for each signature; what is no signature gets just some number.
 */
export function codeOf(signature: string): number {
  for (let index = 0; index < SIGNATURE_LENGTH; index += 1) letters.setUint8(index, signature.charCodeAt(index) & 127);
  return letters.getFloat64(0, true);
}

const NOTHING_CODE = codeOf(NOTHING);

/** The same for a tool's tag. */
export function tagCode(tag: string): number {
  for (let index = 0; index < TOOL_TAG_LENGTH; index += 1) letters.setUint8(index, tag.charCodeAt(index) & 127);
  return letters.getUint32(0, true);
}

export const shortSignature = (digest: string): string => digest.slice(0, SIGNATURE_LENGTH);

/** What came out, as it stands with a settled call. */
export function attemptText({
  ending,
  result = NOTHING,
  effective,
  endsRun,
}: Pick<Attempt, 'ending' | 'result' | 'effective'> & { readonly endsRun?: object | undefined }): string {
  const letter = endsRun !== undefined ? ENDS_RUN : LETTER_OF_ENDING[ending];
  return effective === undefined ? letter + result : letter + result + effective;
}

/** The attempts before `sequence`, oldest first. What cannot be read is left out: a history is evidence, not authority. */
export function openHistory(bytes: Uint8Array, sequence: number): RunHistory {
  return new PackedHistory(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), sequence);
}

/** Reads what is asked for from the bytes as they came: nothing is made of an attempt that nobody looks at. */
class PackedHistory implements RunHistory {
  readonly length: number;
  readonly #view: DataView;
  readonly #starts: number[];

  constructor(view: DataView, before: number) {
    let starts: number[] = [];
    let isSorted = true;
    let latest = 0;
    for (let start = 0; start + SIZE <= view.byteLength; start += SIZE) {
      const sequence = view.getUint32(start, true);
      if (sequence >= before || ENDING_OF_BYTE[view.getUint8(start + ENDING_AT)] === undefined) continue;
      if (sequence < latest) isSorted = false;
      latest = sequence;
      starts.push(start);
    }
    if (!isSorted) starts.sort((one, other) => view.getUint32(one, true) - view.getUint32(other, true));
    if (starts.length > HISTORY_LENGTH) starts = starts.slice(-HISTORY_LENGTH);
    this.#view = view;
    this.#starts = starts;
    this.length = starts.length;
  }

  at(index: number): number {
    return this.#view.getFloat64(this.#starts[index]! + TIME_AT, true);
  }

  ending(index: number): AttemptEnding {
    return ENDING_OF_BYTE[this.#view.getUint8(this.#starts[index]! + ENDING_AT)]!;
  }

  tool(index: number): number {
    return this.#view.getUint32(this.#starts[index]! + TOOL_AT, true);
  }

  raw(index: number): number {
    return this.#view.getFloat64(this.#starts[index]! + RAW_AT, true);
  }

  effective(index: number): number {
    const code = this.#view.getFloat64(this.#starts[index]! + EFFECTIVE_AT, true);
    return code === NOTHING_CODE ? this.raw(index) : code;
  }

  result(index: number): number {
    const code = this.#view.getFloat64(this.#starts[index]! + RESULT_AT, true);
    return code === NOTHING_CODE ? NaN : code;
  }
}

/** Of a run of which nothing needs to be known. */
export const NO_HISTORY: RunHistory = openHistory(new Uint8Array(0), 0);

/** The same bytes from attempts, for a store that keeps them otherwise. */
export function encodeHistory(attempts: readonly Attempt[]): Uint8Array {
  const history = new Uint8Array(attempts.length * SIZE);
  const view = new DataView(history.buffer);
  for (const [index, attempt] of attempts.entries()) writeAttempt(view, index * SIZE, attempt);
  return history;
}

/** Beside a whole history the attempt that asks for it. */
const RING_PLACES = HISTORY_LENGTH + 1;

/** The newest attempts of a run that is remembered in this process, each in a place of its own until a newer one needs it. */
export class AttemptRing {
  readonly #bytes = new Uint8Array(RING_PLACES * SIZE);
  readonly #view = new DataView(this.#bytes.buffer);

  /** As it is now; nothing when its place has gone to a newer one. */
  put(attempt: Attempt): void {
    const start = (attempt.sequence % RING_PLACES) * SIZE;
    if (this.#view.getUint32(start, true) <= attempt.sequence) writeAttempt(this.#view, start, attempt);
  }

  /** To be looked at before anything else is put: it is not a copy. */
  before(sequence: number): RunHistory {
    return openHistory(this.#bytes, sequence);
  }
}

function writeAttempt(view: DataView, start: number, attempt: Attempt): void {
  const { sequence, at, tool, raw, ending, result, effective } = attempt;
  view.setUint32(start, sequence, true);
  view.setFloat64(start + TIME_AT, at, true);
  writeLetters(view, start + TOOL_AT, tool, TOOL_TAG_LENGTH);
  writeLetters(view, start + RAW_AT, raw, SIGNATURE_LENGTH);
  writeLetters(view, start + ENDING_AT, LETTER_OF_ENDING[ending], 1);
  writeLetters(view, start + RESULT_AT, result ?? NOTHING, SIGNATURE_LENGTH);
  writeLetters(view, start + EFFECTIVE_AT, effective ?? NOTHING, SIGNATURE_LENGTH);
}

function writeLetters(view: DataView, from: number, text: string, length: number): void {
  for (let index = 0; index < length; index += 1) view.setUint8(from + index, text.charCodeAt(index));
}
