import type { Attempt, AttemptEnding, RunHistory } from '../../src/domain/call/attempt.ts';
import { encodeHistory, openHistory } from '../../src/domain/call/history.ts';

const SIZE = 41;

/** Encodes a history of these attempts in this order, whatever their sequence numbers are. */
export function pack(attempts: readonly Attempt[]): RunHistory {
  const bytes = encodeHistory(attempts);
  const view = new DataView(bytes.buffer);
  let more = attempts.length;
  for (const [index, { target, tally }] of attempts.entries()) {
    view.setUint32(index * SIZE, index + 1, true);
    if (target !== undefined || tally !== undefined) view.setUint32(more++ * SIZE, index + 1, true);
  }
  return openHistory(bytes, Infinity);
}

const ENDINGS: Readonly<Record<string, AttemptEnding>> = {
  '?': 'open',
  o: 'ok',
  f: 'failed',
  r: 'refused',
  b: 'blocked',
  e: 'blocked',
};
const NOTHING = '--------';

/** Decodes the bytes that a store returns: the attempts before `sequence`, oldest first. */
export function decodeHistory(bytes: Uint8Array, sequence: number): Attempt[] {
  const history = Buffer.from(bytes);
  const attempts: Attempt[] = [];
  const more = new Map<number, Pick<Attempt, 'target' | 'tally'>>();
  for (let at = 0; at + SIZE <= history.length; at += SIZE) {
    const one = history.subarray(at, at + SIZE);
    const text = one.toString('latin1');
    const [result, effective] = [text.slice(25, 33), text.slice(33)];
    if (text.charAt(24) === '+') {
      const target = text.slice(16, 24);
      const found = {
        ...(target === NOTHING ? {} : { target }),
        ...(result === NOTHING ? {} : { tally: Number(result) }),
      };
      more.set(one.readUInt32LE(0), found);
      continue;
    }
    attempts.push({
      sequence: one.readUInt32LE(0),
      at: one.readDoubleLE(4),
      tool: text.slice(12, 16),
      raw: text.slice(16, 24),
      ending: ENDINGS[text.charAt(24)]!,
      ...(effective === NOTHING ? {} : { effective }),
      ...(result === NOTHING ? {} : { result }),
    });
  }
  return attempts
    .map((one) => ({ ...one, ...more.get(one.sequence) }))
    .filter((one) => one.sequence < sequence)
    .sort((one, other) => one.sequence - other.sequence);
}
