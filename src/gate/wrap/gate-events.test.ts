import { describe, expect, it } from 'vitest';
import { approving, asking, before, plugin, refusalOf } from '../../../test/support/gate-tools.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { DiagnosticEvent, EventKind } from '../../domain/events/diagnostic-event.ts';
import type { BeforeToolCall } from '../../domain/policy/hook.ts';
import { defineHooks } from '../hooks/define-hooks.ts';
import type { GateOptions } from './gate-options.ts';

/** A tool `box.look` behind a gate, and the events that the gate emits. By default, every call returns the same result. */
function watched(options: GateOptions = {}, look: (input: object) => unknown = () => 'the same') {
  const told: DiagnosticEvent[] = [];
  const gate = createGate({
    session: 'session-1',
    identity: { tenant: 'acme', subject: 'ada', agent: 'main' },
    onEvent: (event) => void told.push(event),
    ...options,
  });
  const { execute } = gate.wrapTool({ execute: async (input: object) => look(input) }, { id: 'box.look' });
  /** Returns the events so far. Waits one turn of the event loop first, because events are emitted in a later turn than the call. */
  const heard = async (...kinds: EventKind[]): Promise<DiagnosticEvent[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return kinds.length === 0 ? told : told.filter(({ kind }) => kinds.includes(kind));
  };
  const times = async (count: number, input: (index: number) => object = () => ({})): Promise<void> => {
    for (let index = 0; index < count; index += 1) await execute(input(index)).catch(() => undefined);
  };
  return { execute, heard, times };
}

const kindsOf = (events: readonly DiagnosticEvent[]): EventKind[] => events.map(({ kind }) => kind);

describe('events of a gate', () => {
  it('of 21 calls that give the same are one warning at 10 and one block at 20', async () => {
    const { times, heard } = watched();
    await times(21);
    expect(await heard('loop.warned', 'loop.blocked')).toMatchObject([
      { kind: 'loop.warned', detector: 'repeat', count: 10, tool: 'box.look', agent: 'main', session: 'session-1' },
      { kind: 'loop.blocked', detector: 'repeat', count: 20, blocks: 'call' },
    ]);
  });

  it('of a circle of two are one warning between its tenth and its twelfth call', async () => {
    const { times, heard } = watched();
    await times(13, (index) => ({ side: index % 2 }));
    expect(await heard('loop.warned', 'loop.blocked')).toMatchObject([{ detector: 'cycle', count: 10 }]);
  });

  it('report a loop that only the arguments that ran show', async () => {
    const hooks = [plugin(before(() => ({ params: { always: 'this' } })))];
    const { times, heard } = watched({ hooks });
    await times(21, (index) => ({ index }));
    expect(kindsOf(await heard('loop.warned', 'loop.blocked'))).toEqual(['loop.warned', 'loop.blocked']);
  });

  it('of a call that runs are its start and its end, with sizes and no value', async () => {
    const { execute, heard } = watched({}, () => 'secret-result');
    await execute({ key: 'secret-value' });
    expect(await heard()).toMatchObject([
      { kind: 'tool.started', runner: 'wrapped', parameters: { kind: 'object', bytes: 22 }, tool: 'box.look' },
      { kind: 'tool.completed' },
    ]);
    expect(JSON.stringify(await heard())).not.toContain('secret');
  });

  it('of a call that fails have a category and no text', async () => {
    const { execute, heard } = watched({}, () => {
      throw Object.assign(new Error('secret-text'), { status: 429, code: 'secret-code' });
    });
    await execute({}).catch(() => undefined);
    expect(kindsOf(await heard())).toEqual(['tool.started', 'tool.failed']);
    expect(JSON.stringify(await heard())).not.toContain('secret');
  });

  it.each<[string, () => unknown, object]>([
    [
      'throws a status',
      () => Promise.reject(Object.assign(new Error('x'), { status: 429 })),
      { category: 'rate_limited', status: 429, retryable: true, code: 'TOOL_THREW' },
    ],
    [
      'runs out of time',
      () => Promise.reject(new DOMException('x', 'TimeoutError')),
      { category: 'timeout', retryable: true },
    ],
    [
      'has no connection',
      () => Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })),
      { category: 'network', retryable: true },
    ],
    [
      'returns a status with its failure',
      () => ({ ok: false, status: 503 }),
      { category: 'upstream_5xx', status: 503, code: 'TOOL_FAILED' },
    ],
  ])('of a tool that %s have the category and the status of a worker', async (_what, look, error) => {
    const { execute, heard } = watched({}, look);
    await execute({}).catch(() => undefined);
    expect(await heard('tool.failed')).toMatchObject([{ error }]);
  });

  it('have the run id and the trace of the host, with a span for each stage', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const seen: unknown[] = [];
    const told: DiagnosticEvent[] = [];
    const watch = ({ run, trace }: BeforeToolCall): void => void seen.push([run, trace]);
    const hooks = [defineHooks({ id: 'g', hooks: [{ id: 'h', on: 'before_tool_call', run: watch }] })];
    const gate = createGate({ hooks, onEvent: (event) => void told.push(event), trace: () => traceparent });
    const look = { name: 'look', execute: async () => 'fine' };
    await gate.openRun({ id: 'conversation-7' }).wrapTool(look).execute();
    const broken = () => {
      throw new Error('no span');
    };
    await gate.openRun({ id: 'conversation-8', trace: broken }).wrapTool(look).execute();
    await gate.openRun({ id: 'conversation-9', trace: 'nonsense' }).wrapTool(look).execute();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toStrictEqual([
      ['conversation-7', traceparent],
      ['conversation-8', undefined],
      ['conversation-9', undefined],
    ]);
    const trace = { traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16), sampled: true };
    expect(told).toMatchObject([
      { kind: 'tool.started', run: 'conversation-7', trace },
      { kind: 'tool.completed', run: 'conversation-7', trace },
      { run: 'conversation-8' },
      { run: 'conversation-8' },
      { run: 'conversation-9' },
      { run: 'conversation-9' },
    ]);
    expect(told[0]!.trace!.spanId).toBe(told[1]!.trace!.spanId);
    expect(told[2]!.trace).toBeUndefined();
  });

  it.each<[unknown, object]>([
    ['a text that is no JSON', { kind: 'string', length: 22 }],
    ['{"x":1}', { kind: 'object', bytes: 7 }],
    [[1, 2, 3], { kind: 'array', length: 3 }],
    [7, { kind: 'number' }],
    [new Map(), { kind: 'object' }],
    [undefined, { kind: 'object', bytes: 2 }],
  ])('say which kind of parameters a tool got: %j', async (input, parameters) => {
    const { execute, heard } = watched();
    await execute(input as object);
    expect(await heard('tool.started')).toMatchObject([{ parameters }]);
  });

  it('of arguments that throw when they are read are one block with a code', async () => {
    const hooks = [plugin(before(() => ({})))];
    const { execute, heard } = watched({ hooks }, () => expect.fail('entered'));
    const trap = {
      get path(): string {
        throw new Error('secret');
      },
    };
    expect(await refusalOf(execute(trap))).toMatchObject({ name: 'GateBlocked', code: 'ARGUMENTS_INVALID' });
    expect(await heard()).toMatchObject([{ kind: 'tool.blocked', error: { code: 'ARGUMENTS_INVALID' } }]);
    // A tool without hooks and rules gets its input unchecked and unchanged.
    const free = watched({}, (input) => input);
    expect(await free.execute(trap)).toBe(trap);
  });

  it('of loops are lines of the log too, one for a run that is over', async () => {
    const lines: [object, string][] = [];
    const warn = (facts: object, message: string): void => void lines.push([facts, message]);
    const silent = (): void => {};
    const { times } = watched({ log: { debug: silent, info: silent, warn, error: silent } });
    // The last 15 calls are refused because the run has ended. They are not logged.
    await times(45);
    expect(lines.map(([, message]) => message)).toStrictEqual([
      'the run looks like a loop; the call goes on with advice',
      ...Array<string>(10).fill('a call was blocked as part of a loop'),
    ]);
    expect(lines[0]![0]).toMatchObject({ stage: 'gate', tool: 'box.look', detector: 'repeat', count: 10 });
    expect(lines[10]![0]).toMatchObject({ blocks: 'run' });
  });

  it('and a log that throws change nothing', async () => {
    const fail = (): never => {
      throw new Error('no disk for the log');
    };
    const { execute } = watched({ log: { debug: fail, info: fail, warn: fail, error: fail } });
    for (let call = 1; call <= 20; call += 1) expect(await execute({})).toContain('the same');
  });

  it.each<[string, GateOptions, object]>([
    [
      'rule',
      { policy: { rules: [{ id: 'no', verdict: 'deny', tools: ['box.*'] }] } },
      { by: 'rule', byId: 'no', error: { code: 'RULE_DENIED' } },
    ],
    ['hook', { hooks: [plugin(before(() => ({ block: true })))] }, { by: 'hook', byId: 'g.h1' }],
    ['failing hook', { hooks: [plugin(before(() => Promise.reject(new Error('no'))))] }, { by: 'hook', byId: 'g.h1' }],
    ['approver', { hooks: [plugin(asking())], approver: approving('deny') }, { by: 'approval' }],
  ])('of a call that a %s stops say who it was, and nothing else of its tool', async (_who, options, facts) => {
    const { execute, heard } = watched(options, () => expect.fail('entered'));
    await refusalOf(execute({}));
    const events = (await heard()).filter(({ kind }) => kind.startsWith('tool.'));
    expect(events).toMatchObject([{ kind: 'tool.blocked', executed: 'no', ...facts }]);
  });

  it.each([
    ['allow-once', 'allow-once'],
    ['deny', 'deny'],
    [null, 'timeout'],
  ] as const)(
    'of a question that is answered with %s are that it was asked, and how it ended',
    async (answer, word) => {
      const { execute, heard } = watched({ hooks: [plugin(asking())], approver: approving(answer) });
      await execute({}).catch(() => undefined);
      expect(await heard('approval.requested', 'approval.resolved')).toMatchObject([
        { kind: 'approval.requested', approvalId: 'question-1', severity: 'warning', timeoutMs: 120_000 },
        { kind: 'approval.resolved', approvalId: 'question-1', resolution: word },
      ]);
    },
  );

  it('are not emitted for a question without an id', async () => {
    const { execute, heard } = watched({ hooks: [plugin(asking())] });
    await refusalOf(execute({}));
    expect(kindsOf(await heard())).toEqual(['tool.blocked']);
  });

  it('of a hook that fails have its name, and of the cause the category', async () => {
    const hooks = [
      plugin(
        before(() => {
          throw new Error('secret');
        }),
      ),
    ];
    const { execute, heard } = watched({ hooks });
    await refusalOf(execute({}));
    expect(await heard('hook.failed')).toMatchObject([{ hook: 'g.h1', how: 'threw', error: { category: 'internal' } }]);
    expect(JSON.stringify(await heard())).not.toContain('secret');
  });

  it('go to the listeners of their kinds, and a listener that throws affects no other', async () => {
    const told: DiagnosticEvent[] = [];
    const failing = (event: DiagnosticEvent): void => {
      told.push(event);
      throw new Error('listener');
    };
    const { execute, heard } = watched({ onEvent: { kinds: ['tool.completed'], listener: failing } });
    expect(await execute({})).toBe('the same');
    await heard();
    expect(kindsOf(told)).toEqual(['tool.completed', 'events.lost']);
  });
});
