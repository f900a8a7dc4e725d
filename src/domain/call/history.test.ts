import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Attempt, RunHistory } from './attempt.ts';
import { AttemptRing, codeOf, encodeHistory, openHistory, tagCode } from './history.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const attempt = (sequence: number, more: Partial<Attempt> = {}): Attempt => ({
  sequence,
  tool: 'tool',
  raw: `raw${String(sequence).padStart(5, '0')}`,
  at: sequence * 1000,
  ending: 'ok',
  result: 'result--',
  ...more,
});
const timesOf = (history: RunHistory): number[] =>
  Array.from({ length: history.length }, (_, index) => history.at(index));

test('codeOf gives different signatures different numbers', () => {
  const signatures = new Set(Array.from({ length: 20_000 }, () => randomBytes(6).toString('base64url')));
  for (let place = 0; place < 8; place += 1) {
    for (const letter of LETTERS) signatures.add(`${'A'.repeat(place)}${letter}${'z'.repeat(7 - place)}`);
  }
  const codes = new Set(Array.from(signatures, codeOf));
  expect(codes.size).toBe(signatures.size);
  expect([...codes].every((code) => Number.isFinite(code) && code > 0)).toBe(true);
});

test('codeOf takes what is no signature', () => {
  for (const text of ['', 'short', 'x'.repeat(500), 'ünïcödé!', '\uD800', '\uFFFF'.repeat(8), '\u007F'.repeat(8)]) {
    expect(Number.isFinite(codeOf(text))).toBe(true);
  }
});

test('openHistory gives what encodeHistory was given, signatures and tools as their codes', () => {
  const history = openHistory(
    encodeHistory([attempt(1, { ending: 'failed', effective: 'effectiv' }), attempt(2)]),
    Infinity,
  );
  expect(history.length).toBe(2);
  expect(history.at(0)).toBe(1000);
  expect([0, 1].map((index) => history.ending(index))).toEqual(['failed', 'ok']);
  expect(history.tool(0)).toBe(tagCode('tool'));
  expect([0, 1].map((index) => history.raw(index))).toEqual([codeOf('raw00001'), codeOf('raw00002')]);
  expect([0, 1].map((index) => history.result(index))).toEqual([codeOf('result--'), codeOf('result--')]);
  expect([0, 1].map((index) => history.effective(index))).toEqual([codeOf('effectiv'), codeOf('raw00002')]);
});

test('openHistory gives NaN for what has no result yet', () => {
  const { result: _result, ...open } = attempt(1, { ending: 'open' });
  expect(openHistory(encodeHistory([open]), Infinity).result(0)).toBeNaN();
});

test('openHistory puts attempts in order, and leaves out this one and what came after it', () => {
  const mixed = encodeHistory([5, 3, 9, 1, 7].map((sequence) => attempt(sequence)));
  expect(timesOf(openHistory(mixed, 7))).toEqual([1000, 3000, 5000]);
});

test('openHistory keeps exactly the 128 newest, the oldest are dropped first', () => {
  const many = encodeHistory(Array.from({ length: 130 }, (_, index) => attempt(index + 1)));
  const times = timesOf(openHistory(many, Infinity));
  expect([times.length, times[0], times.at(-1)]).toEqual([128, 3000, 130_000]);
});

test('openHistory leaves out what it cannot read', () => {
  const bytes = encodeHistory([attempt(1), attempt(2)]);
  bytes[24] = 0;
  expect(timesOf(openHistory(bytes, Infinity))).toEqual([2000]);
  expect(openHistory(bytes.subarray(0, 40), Infinity).length).toBe(0);
});

test('AttemptRing keeps the 128 newest as they are now, and gives those before an attempt', () => {
  const ring = new AttemptRing();
  for (let sequence = 1; sequence <= 300; sequence += 1) ring.put(attempt(sequence, { ending: 'open' }));
  expect(timesOf(ring.before(301))).toEqual(Array.from({ length: 128 }, (_, index) => (173 + index) * 1000));
  ring.put(attempt(290));
  expect(ring.before(301).ending(290 - 173)).toBe('ok');
  expect(timesOf(ring.before(291)).at(-1)).toBe(290_000);
});

test('AttemptRing lets an old one that ends late touch no newer one', () => {
  const ring = new AttemptRing();
  for (let sequence = 1; sequence <= 130; sequence += 1) ring.put(attempt(sequence));
  ring.put(attempt(1, { ending: 'failed' }));
  expect(timesOf(ring.before(131))).toHaveLength(128);
  expect(timesOf(ring.before(131))[0]).toBe(3000);
});
