import { describe, expect, it } from 'vitest';
import { deferred } from '../../../test/support/sample-call.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { AfterToolCall, BeforeAnswer, BeforeToolCall } from '../../domain/policy/hook.ts';
import { defineHooks, type HookPlugin } from '../hooks/define-hooks.ts';

type Answer = BeforeAnswer | undefined | void;
const before = (run: (call: BeforeToolCall) => Answer | Promise<Answer>): HookPlugin =>
  defineHooks({ id: 'guard', hooks: [{ id: 'h', on: 'before_tool_call', run }] });
const after = (run: (call: AfterToolCall) => void): HookPlugin =>
  defineHooks({ id: 'watch', hooks: [{ id: 'h', on: 'after_tool_call', run }] });

describe('a wrapped tool that is stopped', () => {
  it('is not entered after its hooks, and throws what stopped it', async () => {
    const controller = new AbortController();
    const open = deferred();
    const gate = createGate({ hooks: [before(() => open.promise)] });
    const wrapped = gate.wrapTool({
      name: 'echo',
      execute: (_input: object, _options: object) => expect.fail('entered'),
    });
    const running = Promise.resolve(wrapped.execute({}, { abortSignal: controller.signal }));
    const reason = new Error('the user left');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    const late = (): unknown => wrapped.execute({}, { abortSignal: AbortSignal.abort('just text') });
    expect(late).toThrow(expect.objectContaining({ name: 'GateBlocked', code: 'CALL_CANCELLED' }));
  });
});

describe('a wrapped generator', () => {
  async function* count(input: { to: number }) {
    for (let at = 1; at <= input.to; at += 1) yield at;
  }

  it('hands its updates on as they come, and observers get the last one', async () => {
    const events: AfterToolCall[] = [];
    const gate = createGate({
      hooks: [before(async () => ({ patch: { to: 3 } })), after((call) => void events.push(call))],
    });
    const wrapped = gate.wrapTool({ name: 'count', execute: count });
    const seen: number[] = [];
    for await (const update of wrapped.execute({ to: 1 })) seen.push(update);
    expect(seen).toStrictEqual([1, 2, 3]);
    await gate.idle(1000);
    expect(events).toMatchObject([{ outcome: { kind: 'ok', structured: 3 } }]);
  });

  it('throws the reason when it is blocked', async () => {
    const wrapped = createGate({ hooks: [before(() => ({ block: true, reason: 'No.' }))] }).wrapTool({
      name: 'count',
      execute: count,
    });
    await expect(wrapped.execute({ to: 1 }).next()).rejects.toThrow('No.');
  });

  it('that is not read to the end is reported once, as a call that was not finished', async () => {
    const events: AfterToolCall[] = [];
    const gate = createGate({ hooks: [after((call) => void events.push(call))] });
    for await (const update of gate.wrapTool({ name: 'count', execute: count }).execute({ to: 5 }))
      if (update === 2) break;
    await gate.idle(1000);
    expect(events).toHaveLength(1);
    expect(events[0]!.outcome.kind).toBe('exception');
  });

  it('made by a plain function streams while no check waits, and gives its last update when one does', async () => {
    const execute = (input: { to: number }) => count(input);
    const quick = createGate({ hooks: [before(() => undefined)] }).wrapTool({ name: 'count', execute });
    const seen: number[] = [];
    for await (const update of quick.execute({ to: 2 })) seen.push(update);
    expect(seen).toStrictEqual([1, 2]);
    const slow = createGate({ hooks: [before(async () => undefined)] }).wrapTool({ name: 'count', execute });
    expect(await Promise.resolve<unknown>(slow.execute({ to: 4 }))).toBe(4);
  });
});
