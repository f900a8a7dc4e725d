import { afterEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import type { ContentBlock } from '../../domain/outcome/content.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { ResultAnswer, ToolResultCall } from '../../domain/policy/hook.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ResultCall } from '../../domain/ports/gate-hooks.ts';
import { runResultHooks, type ResultNeeds } from './run-result-hooks.ts';

const PICTURE: ContentBlock = { kind: 'image', mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) };
const PAGE: ContentBlock = { kind: 'resource', uri: 'file:///a', mediaType: 'text/plain', text: 'page of ada' };
const OK: Outcome = {
  kind: 'ok',
  executed: 'yes',
  retryable: false,
  content: [{ kind: 'text', text: 'ada lives here' }, PICTURE, PAGE],
  structured: { name: 'ada' },
};

type Run = (call: ToolResultCall) => unknown;

function ended(overrides: Partial<ResultCall> = {}): ResultCall {
  const { canonical: _, ...call } = hookedCall();
  return { ...call, changedBy: [], outcome: OK, durationMs: 1, ...overrides };
}

function asked(hooks: Readonly<Record<string, Run>>, call = ended(), checks: Partial<ResultNeeds> = {}) {
  const needs = { ...recordingNeeds(), scrub: <Value>(value: Value) => value, findProblem: () => undefined, ...checks };
  const set = hookSet(
    ...Object.entries(hooks).map(([id, run]) => ({
      id,
      on: 'tool_result' as const,
      timeoutMs: 50,
      run: run as (event: unknown) => unknown,
    })),
  );
  return { needs, set, verdict: runResultHooks(set, call, needs) };
}

afterEach(() => void vi.useRealTimers());

describe('result hooks', () => {
  it('see the call, what ran and the whole result, as a frozen copy with bytes as numbers', async () => {
    let seen: ToolResultCall | undefined;
    const { verdict } = asked({ a: (call) => void (seen = call) });
    expect(await verdict).toEqual({ kind: 'kept' });
    expect(seen).toMatchObject({
      callId: 'call-1',
      tool: 'files.write',
      effect: 'unsafe',
      run: 'run-1',
      identity: { tenant: 'default', subject: 'ada', agent: 'assistant' },
      arguments: { path: '/srv/a', mode: 'w' },
      outcome: { kind: 'ok', executed: 'yes', structured: { name: 'ada' } },
    });
    expect(seen!.outcome.content).toEqual([
      { kind: 'text', text: 'ada lives here' },
      { kind: 'image', at: 1, mediaType: 'image/png', bytes: 3 },
      { kind: 'resource', at: 2, uri: 'file:///a', mediaType: 'text/plain', text: 'page of ada' },
    ]);
    expect(Object.isFrozen(seen!.outcome.content[0])).toBe(true);
  });

  it('see a result of any length whole', async () => {
    const text = 'x'.repeat(2 * 1024 * 1024);
    let length = 0;
    const run: Run = ({ outcome: { content } }) => void (length = (content[0] as { text: string }).text.length);
    await asked({ a: run }, ended({ outcome: { ...OK, content: [{ kind: 'text', text }] } })).verdict;
    expect(length).toBe(text.length);
  });

  it('replace the whole result, each what the one before made; blocks with bytes are kept by repeating them', async () => {
    const mask: Run = ({ outcome: { content, structured } }): ResultAnswer => ({
      content: content.map((block) => ('text' in block ? { ...block, text: block.text.replace('ada', '***') } : block)),
      structured: structured!,
    });
    const shorten: Run = ({ outcome }): ResultAnswer => ({ content: outcome.content.slice(0, 2) });
    const { verdict, set } = asked({ mask, shorten, look: () => undefined });
    expect(await verdict).toEqual({
      kind: 'replaced',
      changedBy: ['mask', 'shorten'],
      outcome: {
        kind: 'ok',
        executed: 'yes',
        retryable: false,
        content: [{ kind: 'text', text: '*** lives here' }, PICTURE],
      },
    });
    expect(set.health().map(({ changed }) => changed)).toEqual([1, 1, 0]);
  });

  it('that answer what was there before have changed nothing', async () => {
    const same: Run = ({ outcome: { content, structured } }) => ({ content, structured });
    expect(await asked({ same }).verdict).toEqual({ kind: 'kept', isAnswered: true });
  });

  it('change neither kind nor code of a failure; its message becomes their first text, or a fixed one', async () => {
    const failed = errorOutcome('TOOL_FAILED', Object.assign({ message: 'ada is gone' }, { code: 'E1' }), {
      executed: 'yes',
    });
    const call = ended({ outcome: failed });
    const reworded = await asked({ a: () => ({ content: [{ kind: 'text', text: 'gone' }] }) }, call).verdict;
    expect(reworded).toMatchObject({
      outcome: {
        kind: 'failed',
        executed: 'yes',
        error: { code: 'TOOL_FAILED', message: 'gone', facts: { code: 'E1' } },
      },
    });
    const silent = await asked({ a: () => ({ structured: {} }) }, call).verdict;
    expect(silent).toMatchObject({ outcome: { error: { message: 'The tool reported a failure.' } } });
    expect(JSON.stringify([reworded, silent])).not.toContain('ada');
  });

  it('have what they wrote scrubbed and checked, before the next one sees it', async () => {
    const order: string[] = [];
    const scrub = <Value>(value: Value): Value =>
      JSON.parse(JSON.stringify(value).replaceAll('s3cret', '[secret KEY]')) as Value;
    const findProblem = ({ structured }: Outcome): undefined => void order.push(JSON.stringify(structured));
    const call = ended({ outcome: { ...OK, content: [] } });
    const write: Run = () => ({ structured: { key: 's3cret' } });
    const look: Run = ({ outcome }) => void order.push(JSON.stringify(outcome.structured));
    expect(await asked({ write, look }, call, { scrub, findProblem }).verdict).toMatchObject({
      outcome: { structured: { key: '[secret KEY]' } },
    });
    expect(order).toEqual(['{"key":"[secret KEY]"}', '{"key":"[secret KEY]"}']);
  });

  const never = (): Promise<never> => new Promise(() => undefined);
  it.each<readonly [string, Run, string]>([
    ['throws', ({ outcome }) => JSON.parse((outcome.content[0] as { text: string }).text), 'threw'],
    ['rejects', () => Promise.reject(new Error('ada lives here')), 'threw'],
    ['takes too long', never, 'timed-out'],
    ['answers text', () => 'ada lives here', 'invalid-answer'],
    ['answers null', () => null, 'invalid-answer'],
    ['answers nothing of a result', () => ({}), 'invalid-answer'],
    ['answers with the keys of the result', () => ({ 'ada@example.com': 1 }), 'invalid-answer'],
    ['answers with an unknown key', () => ({ contents: [] }), 'invalid-answer'],
    ['answers with a map', () => ({ structured: new Map([['ada', 1]]) }), 'invalid-answer'],
    ['answers with bytes of its own', () => ({ content: [{ kind: 'image', bytes: 'AAAA' }] }), 'invalid-answer'],
    ['answers with a place that is not there', () => ({ content: [{ kind: 'image', at: 9 }] }), 'invalid-answer'],
    ['moves a resource', () => ({ content: [{ ...PAGE, at: 2, uri: 'file:///b' }] }), 'invalid-answer'],
    [
      'has a getter that throws',
      () => ({
        get content() {
          throw new Error('ada lives here');
        },
      }),
      'invalid-answer',
    ],
  ])('one that %s withholds the result, and no later one is asked', async (_what, run, how) => {
    let isAsked = false;
    const { verdict, needs, set } = asked({ bad: run, later: () => void (isAsked = true) });
    expect(await verdict).toEqual({ kind: 'withheld', hook: 'bad' });
    expect(isAsked).toBe(false);
    expect(needs.events).toMatchObject([{ type: 'hook.failed', hook: 'bad', on: 'tool_result', how }]);
    expect(set.health()[0]).toMatchObject({ failed: 1 });
    // The log must contain nothing of the result, although errors often quote the value that they are about.
    expect(needs.lines).toMatchObject([{ level: 'error', facts: { stage: 'execute', hook: 'bad', how } }]);
    expect(JSON.stringify(needs.lines)).not.toContain('ada');
  });

  it('whose result has a problem withhold it, and the log names the problem', async () => {
    const findProblem = (): string => 'it does not match the output schema: /name: must be string';
    const { verdict, needs } = asked({ bad: () => ({ structured: { name: 5 } }) }, ended(), { findProblem });
    expect(await verdict).toEqual({ kind: 'withheld', hook: 'bad' });
    expect(JSON.stringify(needs.lines)).toContain('/name: must be string');
  });

  it('log the type and the place of an error, without its message', async () => {
    const run: Run = () => {
      throw new RangeError('ada lives here');
    };
    const { verdict, needs } = asked({ bad: run });
    await verdict;
    expect(needs.lines[0]!.facts['cause']).toMatch(/^RangeError at \S+run-result-hooks\.test\.ts:\d+:\d+$/);
  });

  it('are waited for until the call must be answered, and not asked after that', async () => {
    const over = asked({ a: () => undefined }, ended({ answerBy: performance.now() - 1 }));
    expect(await over.verdict).toEqual({ kind: 'withheld', hook: 'a' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const short = asked({ a: never }, ended({ answerBy: performance.now() + 5 }));
    await vi.advanceTimersByTimeAsync(5);
    expect(await short.verdict).toEqual({ kind: 'withheld', hook: 'a' });
    expect(JSON.stringify(short.needs.lines)).toContain('no answer within 5 ms');
  });

  it('are not waited for when the call is stopped', async () => {
    const stop = new AbortController();
    const entered = deferred<void>();
    const run: Run = () => {
      entered.resolve();
      return never();
    };
    const { verdict, needs } = asked({ a: run }, ended({ signal: stop.signal }));
    await entered.promise;
    stop.abort('cancelled');
    expect(await verdict).toEqual({ kind: 'aborted', hook: 'a' });
    expect(needs.lines).toEqual([]);
  });
});
