import type { Policy } from 'sallyport/testing';

/** Nobody answers these: they end by themselves. */
const SOON_MS = 1500;
const LONG_MS = 120_000;

/** Without loop detection: the same call comes again and again on purpose. */
export function chaosPolicy(closed: boolean): Policy {
  const gated = closed ? { deny: ['*'] } : { allow: ['*'] };
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
    permissions: { '*': { allow: ['*'] }, 'chaos.gated': gated, 'chaos.gatedSend': gated },
    paused: {},
    loops: { default: { enabled: false } },
    rules: [
      ask('people-decide', ['allow', 'deny', 'race', 'late'], LONG_MS),
      ask('nobody-decides', ['expire'], SOON_MS),
    ],
  };
}
