import { planeError } from '../../domain/errors.ts';

/** Scripts answer with words and bytes; these turn them into what TypeScript expects. */
export type Bytes = Buffer;

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

/** A word, or a list that starts with one. */
export function wordOf(answer: unknown): string {
  return asText(Array.isArray(answer) ? answer[0] : answer);
}

/** A word instead of a list is the answer for every call of the batch. */
export function answerOf(answers: unknown, index: number): unknown {
  return Array.isArray(answers) ? (answers as unknown[])[index] : answers;
}

export function unexpected(answer: unknown): Error {
  const shape = Array.isArray(answer) ? `a list of ${answer.length}` : typeof answer;
  return planeError('INTERNAL', { problem: `a store function answered with ${shape}` });
}
