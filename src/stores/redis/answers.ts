import { planeError } from '../../domain/errors/errors.ts';

// Functions of the server answer with words and bytes. The helpers of this file convert them to TypeScript types.

export function asList(answer: unknown): unknown[] {
  if (!Array.isArray(answer)) throw unexpected(answer);
  return answer;
}

export function asText(answer: unknown): string {
  if (Buffer.isBuffer(answer)) return answer.toString('utf8');
  if (typeof answer === 'string') return answer;
  throw unexpected(answer);
}

export function asBytes(answer: unknown): Buffer {
  if (!Buffer.isBuffer(answer)) throw unexpected(answer);
  return answer;
}

export function asNumber(answer: unknown): number {
  if (typeof answer === 'number') return answer;
  const number = Number(asText(answer));
  if (!Number.isFinite(number)) throw unexpected(answer);
  return number;
}

const MAX_SHOWN_LENGTH = 40;

/** Reads a number that a role can overwrite with a raw command. If it is invalid, the error shows an administrator what is stored. */
export function asStoredNumber(
  answer: unknown,
  place: { readonly key: string; readonly field: string; readonly needed: string },
  [min, max]: readonly [number, number] = [0, Number.MAX_SAFE_INTEGER],
): number {
  const text = asText(answer);
  if (/^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text);
  const found = JSON.stringify(text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text);
  throw planeError('STORE_OVERWRITTEN', { ...place, found });
}

/** Returns the word of an answer that is a word, or a list that starts with one. */
export function wordOf(answer: unknown): string {
  return asText(Array.isArray(answer) ? answer[0] : answer);
}

/** Returns one call's part of an answer. A single word instead of a list is the answer for every call of the batch. */
export function answerOf(answers: unknown, index: number): unknown {
  return Array.isArray(answers) ? (answers as unknown[])[index] : answers;
}

export function unexpected(answer: unknown): Error {
  const shape = Array.isArray(answer) ? `a list of ${answer.length}` : typeof answer;
  return planeError('INTERNAL', { problem: `a store function answered with ${shape}` });
}
