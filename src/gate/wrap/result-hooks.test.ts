import { describe, expect, it } from 'vitest';
import { createGate } from '../../compose/create-gate.ts';
import type { DiagnosticEvent } from '../../domain/events/diagnostic-event.ts';
import type { AfterToolCall, ResultAnswer, ToolResultCall } from '../../domain/policy/hook.ts';
import { ToolFailure } from '../../exports/tool.ts';
import { defineHooks, type HookPlugin } from '../hooks/define-hooks.ts';
import { GateBlocked } from './gate-blocked.ts';

type Answer = ResultAnswer | undefined | void;
const on = (run: (call: ToolResultCall) => Answer | Promise<Answer>): HookPlugin =>
  defineHooks({ id: 'guard', hooks: [{ id: 'mask', on: 'tool_result', timeoutMs: 20, run }] });

const mask = on(({ outcome: { content, structured } }) =>
  structured === undefined
    ? {
        content: content.map((block) =>
          'text' in block ? { ...block, text: block.text.replaceAll('ada', '***') } : block,
        ),
      }
    : { structured: JSON.parse(JSON.stringify(structured).replaceAll('ada', '***')) as object as never },
);
const breaking = on(() => {
  throw new Error('ada');
});

async function caught(act: () => unknown): Promise<unknown> {
  try {
    return { returned: await act() };
  } catch (error) {
    return error;
  }
}

describe('a wrapped tool with a result hook', () => {
  it('gives the caller what the hook made of text and of data; an answer of nothing keeps the result', async () => {
    const gate = createGate({ hooks: [mask] });
    expect(gate.wrapTool({ name: 'say', execute: () => 'ada is here' }).execute()).toBe('*** is here');
    expect(await gate.wrapTool({ name: 'find', execute: async () => ({ names: ['ada'] }) }).execute()).toEqual({
      names: ['***'],
    });
    const kept = createGate({ hooks: [on(() => undefined)] });
    expect(kept.wrapTool({ name: 'find', execute: () => ({ names: ['ada'] }) }).execute()).toEqual({ names: ['ada'] });
    expect(kept.wrapTool({ name: 'quiet', execute: () => undefined }).execute()).toBeUndefined();
  });

  it('throws GateBlocked when the hook fails: it ran once, and nothing of the result is given out', async () => {
    const lines: unknown[] = [];
    const write = (...line: unknown[]): void => void lines.push(line);
    const events: DiagnosticEvent[] = [];
    const after: AfterToolCall[] = [];
    const watch = defineHooks({
      id: 'watch',
      hooks: [{ id: 'h', on: 'after_tool_call', run: (call) => void after.push(call) }],
    });
    const gate = createGate({
      hooks: [breaking, watch],
      log: { debug: write, info: write, warn: write, error: write },
      onEvent: (event) => void events.push(event),
    });
    let runs = 0;
    const tool = gate.wrapTool({ name: 'say', execute: async () => ((runs += 1), 'ada is here') });
    const error = await caught(() => tool.execute());
    expect(error).toBeInstanceOf(GateBlocked);
    expect(error).toMatchObject({ code: 'HOOK_RESULT_WITHHELD', kind: 'blocked', executed: 'yes', by: 'guard.mask' });
    expect((error as Error).message).toContain('ran, but its result is withheld: the hook guard.mask');
    expect(runs).toBe(1);
    expect(await gate.idle(1000)).toBe(true);
    expect(after).toMatchObject([{ outcome: { kind: 'blocked', executed: 'yes' } }]);
    expect(events.map(({ kind }) => kind)).toEqual(['tool.started', 'tool.completed', 'hook.failed']);
    expect(JSON.stringify([lines, events, after])).not.toMatch(/\bada\b/);
  });

  it.each([
    ['takes too long', on(() => new Promise(() => undefined))],
    ['answers with blocks that are no text', on(() => ({ content: [{ kind: 'structured', value: 1 }] }))],
    ['answers with both', on(() => ({ content: [{ kind: 'text', text: 'a' }], structured: 1 }))],
  ])('withholds the result when the hook %s', async (_what, hook) => {
    const tool = createGate({ hooks: [hook] }).wrapTool({ name: 'say', execute: () => 'ada' });
    expect(await caught(() => tool.execute())).toMatchObject({ code: 'HOOK_RESULT_WITHHELD', executed: 'yes' });
  });

  it('withholds a replaced result that does not match the output schema of the tool', async () => {
    const outputSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const tool = { name: 'find', outputSchema, execute: () => ({ name: 'ada' }) };
    const answering = (structured: never) => createGate({ hooks: [on(() => ({ structured }))] }).wrapTool(tool).execute;
    expect(await caught(answering({ name: '***' } as never))).toEqual({ returned: { name: '***' } });
    expect(await caught(answering({ name: 5 } as never))).toMatchObject({ code: 'HOOK_RESULT_WITHHELD' });
  });

  it('withholds a result that is not JSON, because no hook could see it', async () => {
    const gate = createGate({ hooks: [on(() => undefined)] });
    const tool = gate.wrapTool({ name: 'find', execute: () => new Map([['name', 'ada']]) });
    expect(await caught(() => tool.execute())).toMatchObject({ code: 'RESULT_UNSERIALISABLE', executed: 'yes' });
  });

  it('gives the caller the copy that the hook saw', () => {
    const own = { names: ['ada'] };
    const tool = createGate({ hooks: [on(() => undefined)] }).wrapTool({ name: 'find', execute: () => own });
    const given = tool.execute();
    own.names.push('grace');
    expect(given).toEqual({ names: ['ada'] });
  });

  it('has the message of what it throws reviewed; an error that no hook changed stays the same value', async () => {
    const thrown = new ToolFailure('ada is gone', { code: 'GONE' });
    const tool = {
      name: 'find',
      execute: async () => {
        throw thrown;
      },
    };
    const kept = createGate({ hooks: [on(() => undefined)] }).wrapTool(tool);
    expect(await caught(() => kept.execute())).toBe(thrown);
    const masked = await caught(() =>
      createGate({ hooks: [mask] })
        .wrapTool(tool)
        .execute(),
    );
    expect(masked).toBeInstanceOf(Error);
    expect((masked as Error).message).toBe('*** is gone');
    expect(JSON.stringify(masked, Object.getOwnPropertyNames(masked))).not.toContain('ada');
    // A hook that answers with unchanged content still replaces the error: the caller gets a new one with that text and nothing else of the
    // tool's error.
    const said = await caught(() =>
      createGate({ hooks: [on(({ outcome }) => ({ content: outcome.content }))] })
        .wrapTool(tool)
        .execute(),
    );
    expect([said === thrown, (said as Error).message]).toEqual([false, 'ada is gone']);
    const withheld = await caught(() =>
      createGate({ hooks: [breaking] })
        .wrapTool(tool)
        .execute(),
    );
    expect(withheld).toMatchObject({ code: 'HOOK_RESULT_WITHHELD', executed: 'yes' });
  });

  it('shows the hook values that are thrown and are no errors, and withholds those that it cannot show', async () => {
    const throwing = (value: unknown) => ({
      name: 'find',
      execute: async () => {
        throw value as Error;
      },
    });
    const masking = createGate({ hooks: [mask] });
    const masked = await caught(() => masking.wrapTool(throwing({ row: 'ada' })).execute());
    expect((masked as Error).message).toBe('{"row":"***"}');
    const hidden = await caught(() => masking.wrapTool(throwing(new Map([['row', 'ada']]))).execute());
    expect(hidden).toMatchObject({ code: 'RESULT_UNSERIALISABLE', executed: 'yes' });
  });

  it('holds its updates back until the hook has seen the last one', async () => {
    const gate = createGate({ hooks: [mask] });
    const tool = gate.wrapTool({
      name: 'stream',
      async *execute() {
        yield 'ada, in part';
        yield 'ada, whole';
      },
    });
    const updates: unknown[] = [];
    for await (const update of tool.execute()) updates.push(update);
    expect(updates).toEqual(['***, whole']);
  });

  it('is judged by what the tool itself gave: a hook that makes every result look new hides no loop', async () => {
    let count = 0;
    const hook = on(() => ({ content: [{ kind: 'text', text: `page ${(count += 1)} ${'x'.repeat(count)}` }] }));
    const loops = { default: { repeat: { warn: 2, block: 3 } } };
    const gate = createGate({ hooks: [hook], policy: { loops } });
    const tool = gate.wrapTool({ name: 'look', execute: async (_input: object) => 'the same' }, { effect: 'read' });
    const endings = [];
    for (let call = 0; call < 5; call += 1) endings.push(await caught(() => tool.execute({})));
    expect(endings.some((ending) => ending instanceof GateBlocked && ending.code === 'LOOP_BLOCKED')).toBe(true);
  });
});
