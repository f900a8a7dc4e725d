import { expect, test } from 'vitest';
import { findWords, findWordsInTitles } from '../../scripts/check-words.mjs';

const found = (text: string, isLua = false): string[] => findWords(text, isLua).map((problem) => problem.found);

test('check:words finds names and comments that a stranger would not search for', () => {
  expect(found('const MOST_CALLS = 3;')).toEqual(['MOST_C']);
  expect(found('tellLoop(call);')).toEqual(['tellLoop']);
  expect(found('interface GrantWish {')).toEqual(['GrantWish']);
  expect(found('/** Of the process, closed by its creator. */')).toEqual(['Of']);
  expect(found('run(); // Whoever calls it waits.')).toEqual(['Whoever']);
  expect(found(' * so that nobody waits')).toEqual(['nobody']);
  expect(found('-- Of a call that somebody runs', true)).toEqual(['Of', 'somebody']);
});

test('check:words finds identifiers that are no words of the trade', () => {
  expect(found('const { rewrite, ask: wish } = read;')).toEqual(['wish']);
  expect(found('await pause(PAUSE_AFTER_TROUBLE_MS);')).toEqual(['PAUSE_AFTER_TROUBLE_MS']);
  expect(found('const troubles = findAll(worker);')).toEqual(['troubles']);
  expect(found('limit: LIMITS.mostTokens,')).toEqual(['mostTokens']);
  expect(found("this.#tell({ kind: 'pending' });")).toEqual(['tell']);
  expect(found('return { isEntered: true };')).toEqual(['isEntered']);
  expect(found('while (goesOn()) {')).toEqual(['goesOn']);
  expect(found('function opposedByRule(call) {')).toEqual(['opposedByRule']);
});

test('check:words leaves those words alone in texts and comments', () => {
  expect(found("reason: 'the store is in trouble',")).toEqual([]);
  expect(found('// The client may tell what it wishes.')).toEqual([]);
  expect(found(' * A twin of an earlier rule.')).toEqual([]);
  expect(found('const atMost = 3;')).toEqual([]);
});

test('check:words leaves texts for people, values in backquotes and good names alone', () => {
  expect(found("say: 'Nobody is asked.',")).toEqual([]);
  expect(found('/** `nobody`: signed out. */')).toEqual([]);
  expect(found('const MAX_CALLS = 3; // The most that one caller may have.')).toEqual([]);
  expect(found("const url = 'https://example.com/whoever';")).toEqual([]);
});

test('check:words finds titles that do not name a role or a fact', () => {
  const inTitle = (text: string): string[] => findWordsInTitles(text).map((problem) => problem.found);
  expect(inTitle("  it('is given to nobody', async () => {")).toEqual(['nobody']);
  expect(inTitle("describe.each(STORES)('a call that somebody holds, on %s', (name) => {")).toEqual(['somebody']);
  expect(inTitle("  ])('is told for %s', (host) => {")).toEqual(['told']);
  expect(inTitle('  test.runIf(isRoot)("is the caller\'s, whatever it sends", () => {')).toEqual(['whatever']);
  expect(inTitle("  it('is given to no caller', () => expect(told).toBe('nobody'));")).toEqual([]);
});
