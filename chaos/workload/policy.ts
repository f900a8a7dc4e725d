import type { Policy } from 'sallyport/testing';

/** Timeout of questions that no approver answers; they expire by themselves. */
const SOON_MS = 1500;
const LONG_MS = 120_000;

const GATED = ['chaos.gated', 'chaos.gatedSend'];

/** The state of the gated tools: open, closed by their permission, or paused. */
export type Gate = 'open' | 'denied' | 'paused';

/** The policy of a run. Loop detection is off, because the same call is repeated on purpose. */
export function chaosPolicy(gate: Gate): Policy {
  const gated = gate === 'denied' ? { deny: ['*'] } : { allow: ['*'] };
  const ask = (id: string, fates: readonly string[], timeoutMs: number) =>
    ({
      id,
      verdict: 'ask',
      tools: ['chaos.asked'],
      arguments: [{ at: '/fate', in: fates }],
      ask: { timeoutMs },
    }) as const;
  return {
    roles: {},
    permissions: { '*': { allow: ['*'] }, ...Object.fromEntries(GATED.map((tool) => [tool, gated])) },
    paused: gate === 'paused' ? { tools: GATED } : {},
    loops: { default: { enabled: false } },
    rules: [
      ask('people-decide', ['allow', 'deny', 'race', 'late'], LONG_MS),
      ask('nobody-decides', ['expire'], SOON_MS),
    ],
  };
}
