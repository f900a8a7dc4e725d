import { hash } from 'node:crypto';
import { HISTORY_LENGTH, SIGNATURE_LENGTH, type Attempt, type AttemptEnding, type RunHistory } from './attempt.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';

/**
 * Layout of a run's history: the attempts one after the other, in no order, as `shared/attempts.lua` writes them. Each has sequence, time,
 * tool, signature, then the result: the ending's letter, the result's signature, and the signature of what ran. An attempt with a target or
 * a tally has a second record of the same size and with the same sequence: `+` in place of the ending, the target in place of the
 * signature, the tally in place of the result. Earlier releases skip that record.
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
const MORE = '+';
const MORE_BYTE = MORE.charCodeAt(0);
const ENDING_OF_BYTE = Array.from({ length: 256 }, (_, byte) => ENDING_OF_LETTER[String.fromCharCode(byte)]);

/** Cache for the whole process: every call needs the tag of its tool, and catalogs have thousands of tools. */
const tags = new BoundedCache<string, string>(16_384);

/** The short digest that identifies a tool in a history, computed as in the store's scripts. */
export function toolTag(tool: string): string {
  return tags.getOrMake(tool, hashTool);
}

function hashTool(tool: string): string {
  return hash('sha1', tool, 'hex').slice(0, TOOL_TAG_LENGTH);
}

/** Working memory that all calls of `codeOf` and `tagCode` share. Safe, because each of them reads its result before it returns. */
const letters = new DataView(new ArrayBuffer(SIGNATURE_LENGTH));

/**
 * Reads a signature's eight bytes as one number. Its letters are below 128, so the number is positive, never NaN, and different for each
 * signature. A text that is no signature gives an arbitrary number.
 */
export function codeOf(signature: string): number {
  for (let index = 0; index < SIGNATURE_LENGTH; index += 1) letters.setUint8(index, signature.charCodeAt(index) & 127);
  return letters.getFloat64(0, true);
}

const NOTHING_CODE = codeOf(NOTHING);

/** Reads a tool's tag as one number, as `codeOf` does for a signature. */
export function tagCode(tag: string): number {
  for (let index = 0; index < TOOL_TAG_LENGTH; index += 1) letters.setUint8(index, tag.charCodeAt(index) & 127);
  return letters.getUint32(0, true);
}

export const shortSignature = (digest: string): string => digest.slice(0, SIGNATURE_LENGTH);

/** The result of an attempt, as stored with a settled call. */
export function attemptText({
  ending,
  result = NOTHING,
  effective,
  target,
  tally,
  endsRun,
}: Pick<Attempt, 'ending' | 'result' | 'effective' | 'target' | 'tally'> & {
  readonly endsRun?: object | undefined;
}): string {
  const letter = endsRun !== undefined ? ENDS_RUN : LETTER_OF_ENDING[ending];
  if (target !== undefined || tally !== undefined)
    return letter + result + (effective ?? NOTHING) + (target ?? NOTHING) + tallyText(tally);
  return effective === undefined ? letter + result : letter + result + effective;
}

const MAX_TALLY = 99_999_999;

function tallyText(tally: number | undefined): string {
  return tally === undefined ? NOTHING : String(Math.min(tally, MAX_TALLY)).padStart(SIGNATURE_LENGTH, '0');
}

/**
 * The attempts before `sequence`, oldest first. Attempts that cannot be read are left out, because the history only helps to detect loops.
 */
export function openHistory(bytes: Uint8Array, sequence: number): RunHistory {
  return new PackedHistory(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), sequence);
}

/** Reads each field on demand from the received bytes, so that attempts that are not looked at cost nothing. */
class PackedHistory implements RunHistory {
  readonly length: number;
  readonly #view: DataView;
  readonly #starts: number[];
  /** Offset of the second record of an attempt, by the attempt's sequence. */
  readonly #more = new Map<number, number>();

  constructor(view: DataView, before: number) {
    let starts: number[] = [];
    let isSorted = true;
    let latest = 0;
    for (let start = 0; start + SIZE <= view.byteLength; start += SIZE) {
      const sequence = view.getUint32(start, true);
      if (view.getUint8(start + ENDING_AT) === MORE_BYTE) this.#more.set(sequence, start);
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

  target(index: number): number {
    const start = this.#moreOf(index);
    const code = start === undefined ? NOTHING_CODE : this.#view.getFloat64(start + RAW_AT, true);
    return code === NOTHING_CODE ? NaN : code;
  }

  tally(index: number): number {
    const start = this.#moreOf(index);
    let tally = 0;
    for (let at = 0; start !== undefined && at < SIGNATURE_LENGTH; at += 1) {
      const digit = this.#view.getUint8(start + RESULT_AT + at) - ZERO;
      if (digit < 0 || digit > 9) return 0;
      tally = 10 * tally + digit;
    }
    return tally;
  }

  #moreOf(index: number): number | undefined {
    return this.#more.size === 0 ? undefined : this.#more.get(this.#view.getUint32(this.#starts[index]!, true));
  }
}

const ZERO = '0'.charCodeAt(0);

/** An empty history, for a run whose attempts are not needed. */
export const NO_HISTORY: RunHistory = openHistory(new Uint8Array(0), 0);

/** Encodes attempts into the format that `openHistory` reads, for a store that keeps them in another form. */
export function encodeHistory(attempts: readonly Attempt[]): Uint8Array {
  const withMore = attempts.filter(hasMore);
  const history = new Uint8Array((attempts.length + withMore.length) * SIZE);
  const view = new DataView(history.buffer);
  for (const [index, attempt] of attempts.entries()) writeAttempt(view, index * SIZE, attempt);
  for (const [index, attempt] of withMore.entries()) writeMore(view, (attempts.length + index) * SIZE, attempt);
  return history;
}

function hasMore({ target, tally }: Attempt): boolean {
  return target !== undefined || tally !== undefined;
}

/** One slot for each attempt of a full history, and one for the attempt that is being checked. */
const RING_PLACES = HISTORY_LENGTH + 1;

/** The newest attempts of a run remembered in this process. Each attempt keeps its slot until a newer one needs it. */
export class AttemptRing {
  /** The first half holds the attempts, the second half their second records. */
  readonly #bytes = new Uint8Array(2 * RING_PLACES * SIZE);
  readonly #view = new DataView(this.#bytes.buffer);

  /** Writes the current state of the attempt; does nothing if its slot already belongs to a newer one. */
  put(attempt: Attempt): void {
    const start = (attempt.sequence % RING_PLACES) * SIZE;
    if (this.#view.getUint32(start, true) > attempt.sequence) return;
    writeAttempt(this.#view, start, attempt);
    if (hasMore(attempt)) writeMore(this.#view, RING_PLACES * SIZE + start, attempt);
  }

  /** The attempts before `sequence`. Not a copy: read it before the next `put`. */
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

function writeMore(view: DataView, start: number, { sequence, target, tally }: Attempt): void {
  view.setUint32(start, sequence, true);
  writeLetters(view, start + TOOL_AT, NOTHING, TOOL_TAG_LENGTH);
  writeLetters(view, start + RAW_AT, target ?? NOTHING, SIGNATURE_LENGTH);
  writeLetters(view, start + ENDING_AT, MORE, 1);
  writeLetters(view, start + RESULT_AT, tallyText(tally), SIGNATURE_LENGTH);
  writeLetters(view, start + EFFECTIVE_AT, NOTHING, SIGNATURE_LENGTH);
}

function writeLetters(view: DataView, from: number, text: string, length: number): void {
  for (let index = 0; index < length; index += 1) view.setUint8(from + index, text.charCodeAt(index));
}
