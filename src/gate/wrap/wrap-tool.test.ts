import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deferred } from '../../../test/support/sample-call.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { AfterToolCall, BeforeAnswer, BeforeToolCall } from '../../domain/policy/hook.ts';
import { tool } from '../../exports/tool.ts';
import { defineHooks, type HookPlugin } from '../hooks/define-hooks.ts';
import { GateBlocked } from './gate-blocked.ts';
import { toolIdOf } from './tool-id.ts';
import { isWrapped } from './wrap-tool.ts';

type Answer = BeforeAnswer | undefined | void;
const before = (run: (call: BeforeToolCall) => Answer | Promise<Answer>, id = 'h'): HookPlugin =>
  defineHooks({ id: 'guard', hooks: [{ id, on: 'before_tool_call', run }] });
const after = (run: (call: AfterToolCall) => void): HookPlugin =>
  defineHooks({ id: 'watch', hooks: [{ id: 'h', on: 'after_tool_call', run }] });

describe('a wrapped tool', () => {
  it('fires hooks once, however often it is wrapped, copied or wrapped for another run', async () => {
    let fired = 0;
    const gate = createGate({ hooks: [before(() => void (fired += 1))] });
    const original = { name: 'echo', execute: (input: { x: number }) => input.x };
    const once = gate.wrapTool(original);
    const many = [
      gate.wrapTool(once),
      gate.wrapTool({ ...once }),
      gate.openRun().wrapTool(gate.openRun().wrapTool(once)),
    ];
    expect(many[0]).toBe(once);
    for (const wrapped of [once, ...many]) {
      fired = 0;
      expect(wrapped.execute({ x: 7 })).toBe(7);
      expect(fired).toBe(1);
      expect(isWrapped(wrapped)).toBe(true);
    }
    fired = 0;
    original.execute({ x: 7 });
    expect(fired).toBe(0);
    expect(isWrapped(original)).toBe(false);
  });

  it('is checked by every gate that wrapped it: a mark does not open a second one', () => {
    const log: string[] = [];
    const first = createGate({ hooks: [before(() => void log.push('first'))] });
    const second = createGate({ hooks: [before(() => ({ block: true, reason: 'second' }))] });
    const wrapped = second.wrapTool(first.wrapTool({ name: 'echo', execute: () => 1 }));
    expect(() => wrapped.execute()).toThrow('second');
    expect(log).toStrictEqual([]);
    const forged = { name: 'evil', execute: Object.assign(() => 1, { [Symbol.for('sallyport.gate.wrapped')]: true }) };
    expect(isWrapped(forged)).toBe(true);
    expect(() => second.wrapTool(forged).execute()).toThrow('second');
  });

  it('keeps prototype, members, flags, name and length, and what its code sees as this', () => {
    class Tool {
      readonly name = 'classy';
      readonly #secret = 41;
      description = 'has members';
      execute(input: { add: number }, _options?: unknown): number {
        return this.#secret + input.add;
      }
    }
    const mark = Symbol('mark');
    const original = Object.freeze(Object.assign(new Tool(), { [mark]: 1, nested: { deep: true } }));
    const wrapped = createGate({ hooks: [before(() => undefined)] }).wrapTool(original);
    expect(wrapped).not.toBe(original);
    expect(wrapped).toBeInstanceOf(Tool);
    expect({ ...wrapped }).toStrictEqual({ ...original });
    expect(wrapped.nested).toBe(original.nested);
    expect(wrapped[mark]).toBe(1);
    expect(Object.isFrozen(wrapped)).toBe(true);
    expect([wrapped.execute.name, wrapped.execute.length]).toStrictEqual(['execute', 2]);
    expect(wrapped.execute({ add: 1 })).toBe(42);
  });

  it('without code is returned as it is', () => {
    const gate = createGate({ hooks: [before(() => ({ block: true }))] });
    const bare = { type: 'function', function: { name: 'x', parameters: {} } };
    expect(gate.wrapTool(bare)).toBe(bare);
    expect(isWrapped(bare)).toBe(false);
    expect(gate.wrapTool({ name: 'client-side', execute: undefined })).toStrictEqual({
      name: 'client-side',
      execute: undefined,
    });
  });

  it('throws the reason of a block, with code, hook and id, and its code is not entered', async () => {
    const hooks = [before(({ tool: id }) => ({ block: true, reason: `No ${id} today.` }))];
    const gate = createGate({ hooks });
    const execute = () => expect.fail('entered');
    const sync = gate.wrapTool({ name: 'echo', execute });
    expect(() => sync.execute()).toThrow(GateBlocked);
    const asynchronous = gate.wrapTool({
      name: 'echo',
      execute: async (_input: object, _options: object) => execute(),
    });
    const thrown: unknown = await asynchronous.execute({}, { toolCallId: 'call-9' }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(GateBlocked);
    expect(thrown).toMatchObject({
      name: 'GateBlocked',
      message: 'No echo today.',
      code: 'HOOK_BLOCKED',
      kind: 'blocked',
      tool: 'echo',
      callId: 'call-9',
      by: 'guard.h',
    });
  });

  it('throws the fixed sentence for a hook that fails, and names neither hook nor cause', () => {
    const hooks = [
      before(() => {
        throw new Error('database password=x');
      }),
    ];
    const wrapped = createGate({ hooks }).wrapTool({
      name: 'echo',
      execute: () => 1,
    });
    expect(() => wrapped.execute()).toThrow(/^The call was not run, because a check of it could not be completed\./);
    expect(wrapped.execute).toThrow(expect.not.objectContaining({ by: 'guard.h' }));
    expect(wrapped.execute).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/guard|database/) as string }),
    );
  });

  it('runs with what hooks made of the input, as its own schema reads it, and hands everything else on', async () => {
    const given: unknown[] = [];
    const definition = {
      inputSchema: z.object({ path: z.string(), limit: z.int().default(10) }),
      execute: (...all: unknown[]) => given.push(...all),
    };
    const hooks = [before(({ arguments: args }) => ({ params: { path: `/safe${args['path'] as string}` } }))];
    const wrapped = createGate({ hooks }).wrapTool(definition, { id: 'files.read', effect: 'read' });
    const onUpdate = (): void => {};
    const options = { toolCallId: 'c', abortSignal: new AbortController().signal, onUpdate };
    await Promise.resolve(wrapped.execute({ path: '/a', limit: 99 }, options, 'third'));
    expect(given).toStrictEqual([{ path: '/safe/a', limit: 10 }, options, 'third']);
    expect(given[1]).toBe(options);
  });

  it('takes parameters with the call id first when the option says so', async () => {
    const seen: unknown[] = [];
    const events: AfterToolCall[] = [];
    const update: unknown[] = [];
    const hooks = [before(() => ({ patch: { x: 2 } })), after((call) => void events.push(call))];
    const gate = createGate({ hooks });
    const wrapped = gate.wrapTool(
      {
        name: 'exec',
        execute(id: string, params: object, signal: AbortSignal, onUpdate: (part: unknown) => void) {
          seen.push(id, params, signal.aborted);
          onUpdate('half');
          return 'done';
        },
      },
      { parameters: 'call-id-first' },
    );
    const { signal } = new AbortController();
    expect(wrapped.execute('call-7', { x: 1 }, signal, (part) => void update.push(part))).toBe('done');
    expect(seen).toStrictEqual(['call-7', { x: 2 }, false]);
    expect(update).toStrictEqual(['half']);
    expect(await gate.idle(1000)).toBe(true);
    expect(events).toMatchObject([{ callId: 'call-7', arguments: { x: 2 } }]);
  });

  it('blocks a rewrite that its schema refuses, with the name of the hook and without the value', async () => {
    const hooks = [before(() => ({ patch: { path: { secret: 'hunter2' } } }))];
    const schema = z.object({ path: z.string() });
    const wrapped = createGate({ hooks }).wrapTool({ name: 'read', inputSchema: schema, execute: () => 1 });
    const thrown: unknown = await Promise.resolve(wrapped.execute()).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'HOOK_ARGUMENTS_INVALID', by: 'guard.h' });
    expect((thrown as Error).message).toMatch(/the hook guard\.h changed the arguments of read, .* path: /);
    expect((thrown as Error).message).not.toContain('hunter2');
  });

  it('uses the validate function it is given instead', () => {
    const hooks = [before(() => ({ patch: { path: 'x' } }))];
    const validate = (args: Record<string, unknown>) => (args['path'] === 'x' ? ['path: not x'] : []);
    const wrapped = createGate({ hooks }).wrapTool({ name: 'read', execute: () => 1 }, { validate });
    expect(() => wrapped.execute()).toThrow(/path: not x/);
  });

  it('is not checked twice with two inputs: what was checked runs, also if the input is changed meanwhile', async () => {
    const open = deferred();
    const input = { path: '/a', nested: { x: 1 } };
    const wrapped = createGate({ hooks: [before(() => open.promise)] }).wrapTool({
      name: 'read',
      execute: async (given: typeof input) => given,
    });
    const running = wrapped.execute(input);
    input.path = '/etc/shadow';
    input.nested.x = 2;
    open.resolve();
    expect(await running).toStrictEqual({ path: '/a', nested: { x: 1 } });
  });

  it.each([
    ['a function', () => ({ x: () => 1 })],
    ['a date', () => ({ x: new Date() })],
    ['bytes', () => ({ x: new Uint8Array(2) })],
    [
      'a cycle',
      () => {
        const x: { self?: unknown } = {};
        x.self = x;
        return x;
      },
    ],
    ['a map', () => new Map()],
    ['text that is no JSON', () => 'rm -rf'],
    ['text that is no object', () => '"rm -rf"'],
    ['a number', () => 7],
  ])('with %s as input is refused before any hook is asked', (_what, input) => {
    const gate = createGate({ hooks: [before(() => expect.fail('asked'))] });
    const wrapped = gate.wrapTool({ name: 'odd', execute: (_input: unknown) => expect.fail('entered') });
    expect(() => wrapped.execute(input())).toThrow(/^Wrong arguments for odd: they cannot be checked/);
  });

  it('sees what stands in its input twice as two, and no circle in it', async () => {
    const seen: unknown[] = [];
    const gate = createGate({ hooks: [before((event) => void seen.push(event.arguments))] });
    const wrapped = gate.wrapTool({ name: 'odd', execute: (input: unknown) => input });
    const shared = { x: 1 };
    const apart = { one: { x: 1 }, other: [{ x: 1 }] };
    expect(wrapped.execute({ one: shared, other: [shared] })).toStrictEqual(apart);
    expect(seen).toStrictEqual([apart]);
  });

  it('without a check is entered as it is, with any input, and its result is its own', () => {
    const hooks = [
      defineHooks({
        id: 'g',
        hooks: [{ id: 'h', on: 'before_tool_call', tools: ['other'], run: () => ({ block: true }) }],
      }),
    ];
    const input = { when: new Date() };
    const wrapped = createGate({ hooks }).wrapTool({ name: 'free', execute: (given: object) => given });
    expect(wrapped.execute(input)).toBe(input);
    expect(isWrapped(wrapped)).toBe(true);
  });

  it('of this package is guarded by its effect', () => {
    const definition = tool({ description: 'x', effect: 'read', input: z.object({}), run: () => 'ran' });
    const ofUnsafe = defineHooks({
      id: 'g',
      hooks: [{ id: 'h', on: 'before_tool_call', effects: ['unsafe'], run: () => ({ block: true }) }],
    });
    const gate = createGate({ hooks: [ofUnsafe] });
    const context = { callId: 'c' } as never;
    expect(gate.wrapTool(definition, { id: 'm.read' }).run({}, context)).toBe('ran');
    expect(() => gate.wrapTool({ ...definition, effect: 'unsafe' }, { id: 'm.write' }).run({}, context)).toThrow(
      GateBlocked,
    );
    expect(() => gate.wrapTool(definition, { id: 'm.read', effect: 'unsafe' }).run({}, context)).toThrow(GateBlocked);
  });

  it('needs a name, and gets the module where it is said', () => {
    const gate = createGate();
    expect(() => gate.wrapTool({ execute: () => 1 })).toThrow(/needs a name/);
    const { search } = gate.wrapTools({ search: { execute: () => 1 } }, { module: 'web' });
    expect(isWrapped(search)).toBe(true);
    const ids: string[] = [];
    const hooked = createGate({ hooks: [before(({ tool: id }) => void ids.push(id))] });
    hooked.wrapTool({ name: 'search', execute: () => 1 }, { module: 'web' }).execute();
    hooked.wrapTool({ execute: () => 1 }, { id: 'search', module: 'web' }).execute();
    expect(ids).toStrictEqual(['web.search', 'web.search']);
  });

  it.each(['admin.tools.list', 'x/y', 'a'.repeat(70), 'wetter in Köln', '.', '_private'])(
    'may be called %s: rules, hooks and errors know it by the same id',
    (name) => {
      const seen: string[] = [];
      const id = toolIdOf(name);
      const watch = before(({ tool: shown }) => void seen.push(shown));
      const gate = createGate({
        hooks: [watch],
        policy: { rules: [{ id: 'closed', verdict: 'deny', arguments: [{ at: '/closed', equals: true }] }] },
      });
      const { [name]: wrapped } = gate.wrapTools({ [name]: { execute: (_input: object) => 'ran' } });
      expect(wrapped!.execute({})).toBe('ran');
      expect(seen).toStrictEqual([id]);
      expect(() => wrapped!.execute({ closed: true })).toThrow(expect.objectContaining({ tool: id }));
      // Hooks, the option `tools` and the options of `wrapTool` all accept the mapped id.
      const closed = defineHooks({
        id: 'g',
        hooks: [{ id: 'h', on: 'before_tool_call', tools: [id], run: () => ({ block: true, reason: 'Closed.' }) }],
      });
      const byName = createGate({ hooks: [closed], tools: [{ id }] }).wrapTool({ name, execute: () => 'ran' });
      expect(() => byName.execute()).toThrow('Closed.');
      const byId = createGate({ hooks: [closed] }).wrapTool({ execute: () => 'ran' }, { id });
      expect(() => byId.execute()).toThrow('Closed.');
    },
  );

  it('and its hooks can be compared at once, as a worker does', () => {
    const hooks = [defineHooks({ id: 'g', hooks: [{ id: 'h', on: 'before_tool_call', tools: ['serch'], run() {} }] })];
    expect(() => createGate({ hooks, tools: [{ id: 'search' }] })).toThrow(/there is no tool serch/);
  });
});

describe('observers of a wrapped tool', () => {
  async function observe(execute: (...given: never[]) => unknown, ...given: unknown[]): Promise<AfterToolCall[]> {
    const events: AfterToolCall[] = [];
    const gate = createGate({ hooks: [before(() => ({ patch: { y: 2 } })), after((call) => void events.push(call))] });
    const wrapped = gate.wrapTool({ name: 'echo', execute });
    await Promise.resolve()
      .then(() => wrapped.execute(...(given as never[])))
      .catch(() => undefined);
    expect(await gate.idle(1000)).toBe(true);
    return events;
  }

  it('are invoked once with effective arguments, attempt id, outcome and duration', async () => {
    const events = await observe(() => ({ found: 3 }), { x: 1 }, { toolCallId: 'call-3' });
    expect(events).toMatchObject([
      {
        callId: 'call-3',
        tool: 'echo',
        arguments: { x: 1, y: 2 },
        changedBy: [{ hook: 'guard.h', at: ['/y'] }],
        outcome: { kind: 'ok', executed: 'yes', structured: { found: 3 } },
      },
    ]);
    expect(events[0]!.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('get an id even when the caller has none, another each time', async () => {
    const [one] = await observe(() => 1);
    const [two] = await observe(() => 1);
    expect(one!.callId).toMatch(/^[\w-]{22}$/);
    expect(two!.callId).not.toBe(one!.callId);
  });

  it.each([
    ['text', () => 'hello', { kind: 'ok', content: [{ kind: 'text', text: 'hello' }] }],
    ['a report of failure', () => ({ success: false, error: 'no disk' }), { kind: 'failed', executed: 'yes' }],
    [
      'a rejection',
      () => Promise.reject(new RangeError('secret')),
      { kind: 'exception', error: { code: 'TOOL_THREW' } },
    ],
    ['what JSON cannot say', () => ({ big: 10n }), { kind: 'ok', content: [] }],
    ['nothing', () => undefined, { kind: 'ok', content: [] }],
  ])('are notified of %s', async (_what, execute, outcome) => {
    const [event] = await observe(execute);
    expect(event!.outcome).toMatchObject(outcome);
    expect(JSON.stringify(event)).not.toContain('secret');
  });

  it('are notified that nothing ran when a call is blocked', async () => {
    const events: AfterToolCall[] = [];
    const gate = createGate({
      hooks: [before(() => ({ block: true, reason: 'No.' })), after((call) => void events.push(call))],
    });
    expect(() => gate.wrapTool({ name: 'echo', execute: () => 1 }).execute()).toThrow('No.');
    await gate.idle(1000);
    expect(events).toMatchObject([
      { outcome: { kind: 'blocked', executed: 'no', error: { code: 'HOOK_BLOCKED', message: 'No.' } } },
    ]);
  });

  it('cannot change a result or a failure', async () => {
    const gate = createGate({
      hooks: [
        after(() => {
          throw new Error('observer');
        }),
      ],
    });
    expect(gate.wrapTool({ name: 'echo', execute: () => 'fine' }).execute()).toBe('fine');
    const failing = gate.wrapTool({ name: 'echo', execute: () => Promise.reject(new Error('own')) });
    await expect(failing.execute()).rejects.toThrow('own');
    await gate.idle(1000);
    expect(gate.health()[0]).toMatchObject({ calls: 2, failed: 2 });
  });
});
