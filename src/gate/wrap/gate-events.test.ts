import { describe, expect, it } from 'vitest';
import { approving, asking, before, plugin, refusalOf } from '../../../test/support/gate-tools.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { DiagnosticEvent, EventKind } from '../../domain/diagnostic-event.ts';
import type { GateOptions } from './create-gate.ts';

/** A gate around `box.look`, and what it tells. Every call gives the same. */
function watched(options: GateOptions = {}, look: (input: object) => unknown = () => 'the same') {
  const told: DiagnosticEvent[] = [];
  const gate = createGate({
    session: 'session-1',
    identity: { tenant: 'acme', subject: 'ada', agent: 'main' },
    onEvent: (event) => void told.push(event),
    ...options,
  });
  const { execute } = gate.wrapTool({ execute: async (input: object) => look(input) }, { id: 'box.look' });
  /** Events are told in a turn of their own. */
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

  it('tell of a loop that only what ran shows', async () => {
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

  it('of a question that got no id are none: nobody could ask about it', async () => {
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

  it('go to those who asked for them, and a listener that throws keeps nobody from anything', async () => {
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
