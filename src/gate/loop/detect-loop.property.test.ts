import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pack } from '../../../test/support/decode-history.ts';
import { ATTEMPT_ENDINGS, type Attempt, type RunState } from '../../domain/call/attempt.ts';
import { changeLoopSettings, DEFAULT_LOOP_SETTINGS as settings } from '../../domain/policy/loop-settings.ts';
import { detectLoop } from './detect-loop.ts';
import { type LoopBlock, type LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { blockMark } from './loop-verdict.ts';
import { encodeHistory, openHistory, toolTag } from '../../domain/call/history.ts';
import { signatureOf } from './signature.ts';

const NOW = 1_763_000_000_000;
const tool = { id: 'a.b' };
const run: RunState = { sequence: 129, toolSequence: 5, startedAt: NOW - 5000, cost: 0, loopEnds: [] };

const CALLS = ['A', 'B', 'C', 'D'].map((name) => ({ raw: signatureOf(name), tool: toolTag(`t.${name}`) }));
const RESULTS = ['x', 'y'].map((name) => signatureOf(name));
type Asked = Pick<Attempt, 'tool' | 'raw' | 'at'>;

const ask = (history: readonly Attempt[], attempt: Asked): LoopVerdict =>
  detectLoop({ history: pack(history), run, attempt, settings, tool });

/** Histories that contain loops: up to three sequences of calls with one result each, and every sequence is repeated up to 16 times. */
const loopy: fc.Arbitrary<Attempt[]> = fc
  .array(
    fc.record({
      calls: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 8 }),
      rounds: fc.integer({ min: 1, max: 16 }),
      result: fc.integer({ min: 0, max: 1 }),
      ending: fc.constantFrom(...ATTEMPT_ENDINGS),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) =>
    parts.flatMap(({ calls, rounds, ...end }) =>
      Array.from({ length: rounds }, () => calls.map((call) => ({ call, ...end }))).flat(),
    ),
  )
  .map((all) => all.slice(-127))
  .map((all) =>
    all.map(({ call, result, ending }, index) => ({
      sequence: index + 1,
      ...CALLS[call]!,
      at: NOW - (all.length - index) * 1000,
      ending,
      ...(ending === 'open' ? {} : { result: RESULTS[result]! }),
    })),
  );

const blockedBy = (block: LoopBlock, asked: Asked, sequence: number): Attempt => ({
  ...asked,
  sequence,
  ending: 'blocked',
  result: blockMark(block.detector, block.period ?? 0),
});
const SCOPES = ['call', 'pattern', 'run'];

describe('detectLoop', () => {
  test('never throws, for any attempts', () => {
    const text = fc.oneof(
      fc.constantFrom(...RESULTS, blockMark('cycle', 3), blockMark('in-flight', 0)),
      fc.constantFrom(
        '',
        'short',
        '\u{1F600}\u{1F600}\u{1F600}\u{1F600}',
        'ünïcödé!',
        '\uD800'.repeat(8),
        'x'.repeat(500),
      ),
      fc.string({ maxLength: 10 }),
    );
    const number = fc.oneof(fc.integer({ min: NOW - 1000, max: NOW }), fc.integer(), fc.double());
    const attempt = fc.record(
      {
        sequence: number,
        tool: text,
        raw: text,
        effective: text,
        at: number,
        ending: fc.constantFrom(...ATTEMPT_ENDINGS),
        result: text,
      },
      { requiredKeys: ['sequence', 'tool', 'raw', 'at', 'ending'] },
    ) as fc.Arbitrary<Attempt>;
    const state = fc.record({
      sequence: number,
      toolSequence: number,
      startedAt: number,
      cost: number,
      loopEnds: fc.array(number, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(attempt, { minLength: 1, maxLength: 8 }), attempt, state, (few, asked, counters) => {
        const history = pack(Array.from({ length: 160 }, (_, index) => few[index % few.length]!));
        const verdict = detectLoop({ history, run: counters, attempt: asked, settings, tool });
        expect(['pass', 'warn', 'block']).toContain(verdict.kind);
      }),
    );
  });

  test('never throws, for any bytes that a store gives as a history', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 60 });
    fc.assert(
      fc.property(loopy, damage, fc.nat({ max: 300 }), fc.nat({ max: 40 }), (attempts, places, before, cut) => {
        const bytes = Uint8Array.from(encodeHistory(attempts));
        for (const [place, byte] of places) bytes[place % bytes.length] = byte;
        const history = openHistory(bytes.subarray(cut), before);
        const verdict = detectLoop({ history, run, attempt: { ...CALLS[0]!, at: NOW }, settings, tool });
        expect(['pass', 'warn', 'block']).toContain(verdict.kind);
      }),
    );
  });

  test('gives the same answer to the same question', () => {
    fc.assert(
      fc.property(loopy, loopy, (history, other) => {
        const asked = { ...CALLS[0]!, at: NOW };
        const first = ask(history, asked);
        ask(other, asked);
        expect(ask(history, asked)).toStrictEqual(first);
      }),
    );
  });

  test('does not look at how unrelated calls are spread among the others', () => {
    const places = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 40 })), { maxLength: 40 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), places, (count, both) => {
        const [one, other] = [0, 1].map((side) =>
          spread(
            count,
            both.map((pair) => pair[side]!),
          ),
        );
        const asked = { ...CALLS[0]!, at: NOW };
        expect(ask(one!, asked)).toStrictEqual(ask(other!, asked));
      }),
    );
  });

  test('keeps a blocked call blocked when it is tried again, and never on a lower step', () => {
    const patient = changeLoopSettings(settings, { endRun: 60 });
    let seen = 0;
    fc.assert(
      fc.property(loopy, fc.integer({ min: 0, max: 3 }), fc.boolean(), (history, call, isPatient) => {
        const asked = { ...CALLS[call]!, at: NOW };
        const judge = (longer: readonly Attempt[], at: number): LoopVerdict =>
          detectLoop({
            history: pack(longer),
            run,
            attempt: { ...asked, at },
            settings: isPatient ? patient : settings,
            tool,
          });
        let verdict = judge(history, NOW);
        fc.pre(verdict.kind === 'block' && verdict.detector !== 'in-flight');
        const scopes: string[] = [];
        const longer = [...history];
        for (let step = 1; step <= 70 && verdict.kind === 'block'; step += 1) {
          scopes.push(verdict.scope);
          longer.push(blockedBy(verdict, { ...asked, at: NOW + step * 100 }, 200 + step));
          verdict = judge(longer, NOW + step * 100 + 50);
        }
        expect(verdict.kind).toBe('block');
        expect(scopes).toStrictEqual(scopes.toSorted((a, b) => SCOPES.indexOf(a) - SCOPES.indexOf(b)));
        seen += 1;
      }),
    );
    expect(seen).toBeGreaterThan(50);
  });

  test('keeps it blocked also when the evidence is as old as what the store remembers', () => {
    const attempts = Array.from({ length: 128 }, (_, index): Attempt => {
      const { raw, tool: own } = index < 20 ? CALLS[0]! : { raw: signatureOf(`${index}`), tool: toolTag('x') };
      return { sequence: index + 1, raw, tool: own, at: NOW - (128 - index) * 1000, ending: 'ok', result: RESULTS[0]! };
    });
    const asked = { ...CALLS[0]!, at: NOW };
    const first = ask(attempts, asked);
    expect(first.kind).toBe('block');
    expect(ask([...attempts, blockedBy(first as LoopBlock, asked, 129)], { ...asked, at: NOW + 500 }).kind).toBe(
      'block',
    );
  });

  test('keeps every member of a blocked circle blocked, whichever is tried next', () => {
    let seen = 0;
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 8 }),
        fc.array(fc.nat(), { minLength: 5, maxLength: 8 }),
        (members, tries) => {
          const call = (member: number) => ({ raw: signatureOf(`m${member}`), tool: toolTag('t.t') });
          const length = Math.max(20, 4 * members.length);
          const at = (index: number): number => NOW + index * 1000;
          const history: Attempt[] = Array.from({ length }, (_, index) => {
            const member = members[index % members.length]!;
            return {
              sequence: index + 1,
              ...call(member),
              at: at(index),
              ending: 'ok',
              result: signatureOf(`r${member}`),
            };
          });
          const order = [length % members.length, ...tries.map((place) => place % members.length)];
          for (const [index, place] of order.entries()) {
            const asked = { ...call(members[place]!), at: at(length + index) };
            const verdict = ask(history, asked);
            expect(verdict).toMatchObject({ kind: 'block', detector: 'cycle' });
            history.push(blockedBy(verdict as LoopBlock, asked, length + index + 1));
            seen += 1;
          }
        },
      ),
    );
    expect(seen).toBeGreaterThan(100);
  });

  test('forgets what is older than the decay', () => {
    fc.assert(
      fc.property(loopy, loopy, (history, older) => {
        const asked = { ...CALLS[0]!, at: NOW };
        const forgotten = older
          .map((attempt) => ({ ...attempt, at: attempt.at - settings.decayMs }))
          .slice(0, 128 - history.length);
        expect(ask([...forgotten, ...history], asked)).toStrictEqual(ask(history, asked));
      }),
    );
  });
});

/** `count` equal calls at fixed times, and one ok call of another tool for each of `places`. The other calls do not shift equal calls. */
function spread(count: number, places: readonly number[]): Attempt[] {
  const own = Array.from({ length: count }, (_, index): Attempt => ({
    sequence: 0,
    ...CALLS[0]!,
    at: NOW - (count - index) * 1000,
    ending: 'ok',
    result: RESULTS[0]!,
  }));
  const other = places.map((place, index): Attempt => ({
    sequence: 0,
    tool: toolTag(`o.${index}`),
    raw: signatureOf(`other ${index}`),
    at: NOW - Math.max(0, count - place) * 1000,
    ending: 'ok',
    result: signatureOf(`result ${index}`),
  }));
  return [...own, ...other].sort((a, b) => a.at - b.at).map((attempt, index) => ({ ...attempt, sequence: index + 1 }));
}
