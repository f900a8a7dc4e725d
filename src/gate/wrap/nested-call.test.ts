import { describe, expect, it } from 'vitest';
import { createGate } from '../../compose/create-gate.ts';
import type { BeforeToolCall } from '../../domain/policy/hook.ts';
import { defineHooks } from '../hooks/define-hooks.ts';
import type { Gate } from './create-gate.ts';

interface Echo {
  readonly name: string;
  execute(input: { x: number }): Promise<string>;
}

function watched() {
  const asked: BeforeToolCall[] = [];
  const gate = createGate({
    hooks: [
      defineHooks({ id: 'g', hooks: [{ id: 'h', on: 'before_tool_call', run: (call) => void asked.push(call) }] }),
    ],
  });
  let ran = 0;
  const echo: Echo = { name: 'echo', execute: async ({ x }) => `${(ran += 1)}: ${x}` };
  return { gate, asked, echo, ran: () => ran };
}

/** Ways to decorate a wrapped tool. Each returns an object that the gate did not make. */
const DECORATIONS: [string, (wrapped: Echo) => Echo][] = [
  ['a copy with a function around', (wrapped) => ({ ...wrapped, execute: (...given) => wrapped.execute(...given) })],
  ['an async function around', (wrapped) => ({ ...wrapped, execute: async (input) => await wrapped.execute(input) })],
  ['an object that inherits from it', (wrapped) => Object.create(wrapped) as Echo],
  [
    'an object that inherits from it with a function around',
    (wrapped) =>
      Object.assign(Object.create(wrapped) as Echo, { execute: (input: { x: number }) => wrapped.execute(input) }),
  ],
  [
    'an object that has it as a member',
    (wrapped) => {
      const holder = { name: 'echo', inner: wrapped, execute: (input: { x: number }) => holder.inner.execute(input) };
      return holder;
    },
  ],
  [
    'two functions around, with a wait between them',
    (wrapped) => ({
      ...wrapped,
      execute: async (input) => {
        await new Promise((resolve) => setImmediate(resolve));
        return ((given: { x: number }) => wrapped.execute({ ...given }))(input);
      },
    }),
  ],
];

describe('a wrapped tool that is decorated and wrapped again', () => {
  it.each(DECORATIONS)('with %s is gated once', async (_how, decorate) => {
    const { gate, asked, echo, ran } = watched();
    const again = (run: Gate) => run.wrapTool(decorate(run.wrapTool(decorate(gate.wrapTool(echo)))));
    for (const run of [gate, gate.openRun()]) {
      asked.length = 0;
      const before = ran();
      expect(await again(run).execute({ x: 1 })).toBe(`${before + 1}: 1`);
      expect(asked).toHaveLength(1);
    }
  });

  it('is blocked for a loop as late as one that was not decorated', async () => {
    const gate = createGate();
    const wrapped = gate.wrapTool({ name: 'echo', execute: async (_input: object) => 'fine.' });
    const twice = gate.wrapTool({ ...wrapped, execute: async (input: object) => wrapped.execute(input) });
    for (let call = 1; call <= 20; call += 1) expect(await twice.execute({ x: 1 })).toContain('fine.');
    await expect(twice.execute({ x: 1 })).rejects.toMatchObject({ code: 'LOOP_BLOCKED' });
  });

  it('streams, and is gated once', async () => {
    const { gate, asked } = watched();
    const wrapped = gate.wrapTool({
      name: 'count',
      async *execute({ to }: { to: number }) {
        for (let at = 1; at <= to; at += 1) yield at;
      },
    });
    const twice = gate.wrapTool({
      ...wrapped,
      async *execute(input: { to: number }) {
        yield* wrapped.execute(input);
      },
    });
    const plain = gate.wrapTool({ ...wrapped, execute: (input: { to: number }) => wrapped.execute(input) });
    for (const tool of [twice, plain]) {
      asked.length = 0;
      const seen: number[] = [];
      for await (const update of tool.execute({ to: 3 })) seen.push(update);
      expect(seen).toStrictEqual([1, 2, 3]);
      expect(asked).toHaveLength(1);
    }
  });

  it('is judged by what runs: arguments that the decoration changed are checked again', async () => {
    const { gate, asked, echo } = watched();
    const wrapped = gate.wrapTool(echo);
    const twice = gate.wrapTool({ ...wrapped, execute: ({ x }: { x: number }) => wrapped.execute({ x: x + 1 }) });
    expect(await twice.execute({ x: 1 })).toBe('1: 2');
    expect(asked.map(({ arguments: args }) => args)).toStrictEqual([{ x: 1 }, { x: 2 }]);
    asked.length = 0;
    const inPlace = gate.wrapTool({
      ...wrapped,
      execute: (input: { x: number }) => ((input.x += 1), wrapped.execute(input)),
    });
    expect(await inPlace.execute({ x: 1 })).toBe('2: 2');
    expect(asked.map(({ arguments: args }) => args)).toStrictEqual([{ x: 1 }, { x: 2 }]);
    asked.length = 0;
    let reads = 0;
    const trap = {
      get x() {
        return (reads += 1);
      },
    };
    const trapped = gate.wrapTool({ ...wrapped, execute: (_input: { x: number }) => wrapped.execute(trap) });
    expect(await trapped.execute({ x: 1 })).toBe('3: 1');
    expect(asked).toHaveLength(1);
  });

  it('and that takes what is no JSON is counted once', async () => {
    const gate = createGate({ policy: { loops: { default: { budgets: { callsPerRun: 2 } } } } });
    const wrapped = gate.wrapTool({ name: 'odd', execute: async (input: Map<string, number>) => input.size });
    const twice = gate.wrapTool({ ...wrapped, execute: async (input: Map<string, number>) => wrapped.execute(input) });
    for (const _ of [1, 2]) expect(await twice.execute(new Map([['x', 1]]))).toBe(1);
    await expect(twice.execute(new Map())).rejects.toMatchObject({ code: 'BUDGET_SPENT' });
  });

  it('is not a way past the gate: a tool that calls itself, or is called beside, is checked each time', async () => {
    const { gate, asked, echo } = watched();
    const wrapped: Echo = gate.wrapTool({
      name: 'echo',
      execute: async (input) => (asked.length < 3 ? wrapped.execute(input) : 'deep enough'),
    });
    expect(await wrapped.execute({ x: 1 })).toBe('deep enough');
    expect(asked).toHaveLength(3);
    asked.length = 0;
    const inner = gate.wrapTool(echo);
    const outer = gate.wrapTool({
      ...inner,
      execute: async (input: { x: number }) =>
        [await inner.execute(input), await inner.execute(input), await inner.execute(input)].join(),
    });
    expect(await outer.execute({ x: 1 })).toBe('1: 1,2: 1,3: 1');
    // The outer call and the first inner call count as one. The other two inner calls are checked separately, like retries of a decoration.
    expect(asked).toHaveLength(3);
  });

  it('is checked when it is called by something that an ended call left running', async () => {
    const { gate, asked, echo } = watched();
    const inner = gate.wrapTool(echo);
    let late: Promise<string> | undefined;
    const outer = gate.wrapTool({
      name: 'echo',
      execute: async (input: { x: number }) => {
        late = new Promise<void>((resolve) => setImmediate(resolve)).then(() => inner.execute(input));
        return 'done';
      },
    });
    await outer.execute({ x: 1 });
    expect(await late).toBe('1: 1');
    expect(asked).toHaveLength(2);
  });

  it('of two gates is checked by both, once each', async () => {
    const [one, other] = [watched(), watched()];
    const inner = one.gate.wrapTool(one.echo);
    const middle = other.gate.wrapTool({ ...inner, execute: (input: { x: number }) => inner.execute(input) });
    const outer = one.gate.wrapTool({ ...middle, execute: (input: { x: number }) => middle.execute(input) });
    expect(await outer.execute({ x: 1 })).toBe('1: 1');
    expect([one.asked.length, other.asked.length]).toStrictEqual([1, 1]);
  });
});
