import { readFileSync } from 'node:fs';
import { hash, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  ATTACH,
  fails,
  gives,
  says,
  simulateRun,
  type SimulatedCall,
  type Simulation,
  type SimulationOptions,
} from '../../../test/support/run-simulator.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { changeLoopSettings, DEFAULT_LOOP_SETTINGS, type LoopSettings } from '../../domain/policy/loop-settings.ts';

type Pattern = (index: number) => SimulatedCall;

interface Row extends SimulationOptions {
  readonly name: string;
  readonly pattern: Pattern;
}

const read = { id: 'files.read' };
const shell = { id: 'shell.run' };
const job = { id: 'jobs.status', poll: { everyMs: 5000 } };
const asked = (index: number, more: Partial<SimulatedCall> = {}): SimulatedCall => ({
  tool: read,
  arguments: { path: `file-${index}` },
  outcome: says(`The text of file ${index}.`),
  ...more,
});
const circle =
  (period: number): Pattern =>
  (index) =>
    asked(index % period);
/** Three calls again and again, in an order without a period. */
const shuffled: Pattern = (index) => asked((((index * 2_654_435_761) >>> 8) ^ (index * index)) % 3);

/** A text that looks random, the same each time the test runs. */
const token = (index: number): string => hash('sha256', `${index}`, 'base64url').slice(0, 24);
const uuid = (index: number): string =>
  hash('sha256', `${index}`, 'hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
/** Values that are made anew for every call. */
const nonces = (index: number): JsonObject => ({
  requestId: uuid(index),
  at: 1_763_200_000_000 + index,
  comment: `try ${token(index)}`,
  nonce: index,
});
const NOT_FOUND = gives({ found: [] });

const LOOPS: readonly Row[] = [
  { name: 'A A A …', pattern: () => asked(0) },
  { name: 'A B A B …', pattern: circle(2) },
  ...[3, 4, 5, 6, 7, 8].map((period) => ({ name: `a circle of ${period} calls`, pattern: circle(period) })),
  { name: 'three calls in changing order', pattern: shuffled },
  {
    name: 'A, and new work in between',
    pattern: (index) => (index % 2 === 0 ? asked(0) : asked(1000 + index, { beside: true })),
  },
  {
    name: 'a hook makes the same arguments of different ones',
    pattern: (index) => asked(0, { arguments: { path: `./file-0?${index}` }, rewritten: { path: 'file-0' } }),
  },
  {
    name: 'a hook makes different arguments of the same ones',
    pattern: (index) => asked(0, { rewritten: { path: 'file-0', trace: index } }),
  },
  {
    name: 'A, with a nonce in the arguments',
    pattern: (index) => asked(0, { arguments: { path: 'file-0', nonce: uuid(index) } }),
  },
  ...[2, 5, 8].map((period) => ({
    name: `a circle of ${period} calls, with ids, times and a counter in the arguments`,
    pattern: (index: number) =>
      asked(index % period, { arguments: { path: `file-${index % period}`, ...nonces(index) } }),
  })),
  {
    name: 'A, with a nonce in the arguments, and new work in between',
    pattern: (index) =>
      index % 2 === 0
        ? asked(0, { arguments: { path: 'file-0', nonce: uuid(index) } })
        : asked(1000 + index, { beside: true }),
  },
  {
    name: 'A, with a nonce and a time in the result',
    pattern: (index) =>
      asked(0, {
        outcome: says(
          `<data id="${randomUUID()}">nothing new</data> at ${new Date(index * 7919).toISOString()}, took ${index} ms`,
        ),
      }),
  },
  {
    name: 'the same failure with other arguments',
    pattern: (index) => ({
      tool: shell,
      arguments: { command: `cat part-${index}` },
      outcome: fails(`FileNotFoundError: [Errno 2] No such file or directory: 'part-${index}'`),
    }),
  },
  {
    name: 'the same failure with other arguments, and new work in between',
    pattern: (index) =>
      index % 2 === 0
        ? { tool: shell, arguments: { edit: index }, outcome: fails(`No match for line ${index}`, 'NO_MATCH') }
        : asked(1000 + index, { beside: true }),
  },
  {
    name: 'failures of four tools, each in another way',
    pattern: (index) => ({
      tool: { id: `tools.t${index % 4}` },
      arguments: { index },
      outcome: fails(`It broke.`, `CODE_${index % 4}_${index % 3}`),
    }),
  },
  {
    name: 'a tool that does not exist',
    pattern: (index) => ({
      tool: { id: 'files.raed' },
      arguments: { index },
      outcome: errorOutcome('TOOL_UNKNOWN', { tool: 'files.raed', near: ['files.read'] }),
    }),
  },
  {
    name: 'wrong arguments again and again',
    pattern: (index) =>
      asked(index, { outcome: errorOutcome('ARGUMENTS_INVALID', { tool: 'files.read', problems: [`${index}`] }) }),
  },
  {
    name: 'A, refused by a hook each time',
    pattern: () => asked(0, { outcome: errorOutcome('HOOK_BLOCKED', { hook: 'guard.x', reason: 'No.' }) }),
  },
  {
    name: 'a poll every second, declared for every 5 s',
    pattern: () => ({ tool: job, arguments: { id: 7 }, outcome: gives({ state: 'running' }), afterMs: 1000 }),
  },
  { name: 'A, 300 at once', pattern: () => asked(0, { endsAfter: Infinity, afterMs: 1 }) },
  { name: 'A, three at a time', pattern: (index) => asked(0, { endsAfter: 3 - (index % 3) }) },
  { name: 'A B C, all three at a time', pattern: (index) => asked(index % 3, { endsAfter: 3 - (index % 3) }) },
  {
    name: 'A B C, blocked, then in any order',
    pattern: (index) => asked(index < 21 ? index % 3 : (index * index + (index >> 2)) % 3),
  },
  { name: 'A A A …, after a run of the session was ended', pattern: () => asked(0), endedRuns: 1 },
];

/** Exactly the same call with different results. Loop detection cannot know whether the differences are progress. */
const CHANGING: readonly Row[] = [
  { name: 'a result that changes each time', pattern: (index) => asked(0, { outcome: gives({ page: index }) }) },
  {
    name: 'rolling a die',
    pattern: (index) => asked(0, { outcome: gives({ rolled: 1 + (((index * 2_654_435_761) >>> 12) % 6) }) }),
  },
];

const WORK: readonly Row[] = [
  {
    name: 'a result that changes each time, with new work in between',
    pattern: (index) => asked(index % 2 === 0 ? 0 : 1000 + index, { outcome: gives({ page: index }) }),
  },
  {
    name: '300 pages by number, of which most are empty',
    pattern: (index) => asked(0, { arguments: { query: 'x', page: index }, outcome: NOT_FOUND }),
  },
  {
    name: '300 pages by cursor, of which most are empty',
    pattern: (index) => asked(0, { arguments: { query: 'x', cursor: token(index) }, outcome: NOT_FOUND }),
  },
  {
    name: '300 pages, each with a request id',
    pattern: (index) =>
      asked(0, { arguments: { query: 'x', page: index, requestId: uuid(index) }, outcome: NOT_FOUND }),
  },
  {
    name: 'a batch of 300 records with UUIDs, each with the same answer',
    pattern: (index) =>
      asked(0, {
        tool: { id: 'crm.remove', effect: 'idempotent' },
        arguments: { contactId: uuid(index), reason: 'spam' },
        outcome: gives({ ok: true }),
      }),
  },
  {
    name: 'a batch of 300 changes, each with a different UUID under any name, each with the same answer',
    pattern: (index) =>
      asked(0, {
        tool: { id: 'shop.cancel', effect: 'unsafe' },
        arguments: { order: uuid(index), requestId: uuid(-index) },
        outcome: gives({ ok: true }),
      }),
  },
  {
    name: 'a batch of 300 records, 20 at once, each with a request id',
    pattern: (index) =>
      asked(0, {
        arguments: { ids: [uuid(index)], requestId: uuid(-index) },
        outcome: gives({ ok: true }),
        endsAfter: 20 - (index % 20),
      }),
  },
  {
    name: 'a search that finds something new, with a request id',
    pattern: (index) =>
      asked(0, { arguments: { query: 'x', requestId: uuid(index) }, outcome: gives({ hits: index }) }),
  },
  {
    name: 'the same file written with new contents',
    pattern: (index) => ({
      tool: { id: 'files.write', effect: 'idempotent' },
      arguments: { path: 'a.md', text: `version ${index}` },
      outcome: gives({ ok: true }),
    }),
  },
  {
    name: 'other files written with new contents',
    pattern: (index) => ({
      tool: { id: 'files.write', effect: 'idempotent' },
      arguments: { path: `${index}.md`, text: `version ${index}` },
      outcome: gives({ ok: true }),
    }),
  },
  { name: 'different calls', pattern: (index) => asked(index) },
  {
    name: '30 different calls, then 30 others',
    pattern: (index) => asked(index % 30, { tool: { id: `files.t${(index / 30) | 0}` } }),
  },
  { name: 'two passes over 40 files', pattern: (index) => asked(((index / 80) | 0) * 40 + (index % 40)) },
  { name: 'three passes over 40 files', pattern: (index) => asked(((index / 120) | 0) * 40 + (index % 40)) },
  { name: 'two passes over 8 files', pattern: (index) => asked(((index / 16) | 0) * 8 + (index % 8)) },
  {
    name: 'a call that fails three times, then succeeds',
    pattern: (index) =>
      asked(index % 10 < 4 ? (index / 10) | 0 : 1000 + index, {
        tool: shell,
        ...(index % 10 < 3 ? { outcome: fails('Busy.', 'BUSY') } : {}),
      }),
  },
  {
    name: 'write and read again, with new contents',
    pattern: (index) =>
      index % 2 === 0
        ? { tool: { id: 'files.write' }, arguments: { text: index }, outcome: gives({ written: true }) }
        : asked(0, { outcome: says(`text ${index}`) }),
  },
  {
    name: 'a poll every 5 s, declared for every 5 s',
    pattern: () => ({ tool: job, arguments: { id: 7 }, outcome: gives({ state: 'running' }), afterMs: 5000 }),
  },
  {
    name: 'a poll every second, with progress',
    pattern: (index) => ({ tool: job, arguments: { id: 7 }, outcome: gives({ done: index }), afterMs: 1000 }),
  },
  { name: 'a health check every minute', pattern: () => asked(0, { afterMs: 60_000 }) },
  {
    name: 'three checks every minute',
    pattern: (index) => asked(index % 3, { afterMs: index % 3 === 0 ? 58_000 : 1000 }),
  },
  {
    name: 'a health check every minute, down for hours',
    pattern: () => asked(0, { afterMs: 60_000, outcome: fails('Connection refused.', 'ECONNREFUSED') }),
  },
  {
    name: 'a health check every minute next to other work',
    pattern: (index) => asked(index % 12 === 0 ? 0 : 1000 + index, { afterMs: 5000 }),
  },
  { name: 'different calls, 20 at once', pattern: (index) => asked(index, { endsAfter: 20 - (index % 20) }) },
  {
    name: 'the same call for four helpers at once, each time another',
    pattern: (index) => asked((index / 4) | 0, { endsAfter: 4 - (index % 4) }),
  },
];

const usual = new Map<Row, Simulation>();
function resultOf(row: Row, options?: SimulationOptions): Simulation {
  if (options !== undefined) return simulateRun(row.pattern, { ...row, ...options });
  const known = usual.get(row) ?? simulateRun(row.pattern, row);
  usual.set(row, known);
  return known;
}

const patient = changeLoopSettings(DEFAULT_LOOP_SETTINGS, { endRun: 60 });

describe('the loop table', () => {
  test.each(LOOPS)('$name: is warned about, stopped within 40 calls, and stays stopped', (row) => {
    const { firstWarning, firstBlock, escaped } = resultOf(row);
    expect(firstWarning).toBeLessThan(firstBlock!);
    expect(firstBlock! - 1).toBeLessThanOrEqual(40);
    expect(escaped).toBe(0);
  });

  test.each(LOOPS)('$name: stays stopped without the end of the run, too', (row) => {
    expect(resultOf(row, { settings: patient, calls: 90 })).toMatchObject({
      firstBlock: resultOf(row).firstBlock,
      escaped: 0,
    });
  });

  test.each(WORK)('$name: is never blocked', (row) => {
    expect(resultOf(row).blocked).toBe(0);
  });

  test.each(CHANGING)('$name: is warned about after 50 calls, blocked after 200, and the run is not ended', (row) => {
    const { firstWarning, firstBlock, blocked, escaped, verdicts } = resultOf(row);
    expect([firstWarning, firstBlock, blocked, escaped]).toStrictEqual([51, 201, 100, 0]);
    expect(verdicts.at(-1)).toMatchObject({ code: 'LOOP_BLOCKED', scope: 'call', detector: 'changing' });
  });

  test('the same target written with new contents leads to a warning, other targets do not', () => {
    const detectors = (name: string): unknown[] =>
      resultOf(WORK.find((row) => row.name === name)!).verdicts.flatMap((one) =>
        'detector' in one ? one.detector : [],
      );
    expect(new Set(detectors('the same file written with new contents'))).toStrictEqual(new Set(['same-target']));
    expect(detectors('other files written with new contents')).toStrictEqual([]);
  });

  test('stands on the page about loops as it is', () => {
    const page = readFileSync(new URL('../../../docs/loops.md', import.meta.url), 'utf8');
    for (const rows of [LOOPS, CHANGING, WORK]) expect(page).toContain(rows.map(lineOf).join('\n'));
  });

  test('stands there beside the settings as they are', () => {
    const page = readFileSync(new URL('../../../docs/loops.md', import.meta.url), 'utf8');
    const rows = Object.entries(DEFAULT_LOOP_SETTINGS)
      .filter(([name]) => name !== 'budgets')
      .map(([name, value]) => `| \`${name}\` | ${shownSetting(value as LoopSettings[keyof LoopSettings])} |`);
    expect(rows.filter((row) => !page.includes(row))).toStrictEqual([]);
    expect(rows).toHaveLength(14);
  });
});

function shownSetting(value: LoopSettings[keyof LoopSettings]): string {
  if (typeof value === 'number') return value.toLocaleString('en-US');
  return typeof value === 'object' && 'warn' in value
    ? `warn ${value.warn}, block ${value.block}`
    : `\`${JSON.stringify(value)}\``;
}

function lineOf(row: Row): string {
  const { firstWarning, firstBlock, blocked } = resultOf(row);
  return `| ${row.name} | ${firstWarning ?? '–'} | ${firstBlock ?? '–'} | ${blocked} |`;
}

describe('a history that travels only with some calls', () => {
  test.each([...LOOPS, ...CHANGING, ...WORK])('$name: decides as one that always does', (row) => {
    const { carried: _some, ...sometimes } = resultOf(row);
    const { carried: _all, ...always } = resultOf(row, { attach: ATTACH.always });
    expect(sometimes).toStrictEqual(always);
  });

  test('does not travel with work that repeats nothing and fails in nothing', () => {
    const names = ['different calls', 'two passes over 40 files', 'different calls, 20 at once'];
    const carried = WORK.filter(({ name }) => names.includes(name)).map((row) => resultOf(row).carried);
    expect(carried).toStrictEqual([0, 0, 0]);
  });

  test('needs more than repeated signatures and three failures in a row', () => {
    const missed = LOOPS.filter((row) => {
      const { escaped, blocked } = resultOf(row, { attach: ATTACH.repeatedOrFailing });
      return escaped > 0 || blocked === 0;
    });
    const withNonces = LOOPS.map(({ name }) => name).filter((name) => name.includes('in the arguments'));
    expect(withNonces).toHaveLength(5);
    expect(missed.map(({ name }) => name)).toStrictEqual([
      'a hook makes the same arguments of different ones',
      ...withNonces,
      'the same failure with other arguments, and new work in between',
    ]);
  });
});
