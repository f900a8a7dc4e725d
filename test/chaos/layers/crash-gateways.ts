import { expect } from 'vitest';
import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import { createToken, type MadeToken } from '../../support/create-token.ts';
import { eventually } from '../../support/process.ts';
import {
  approveUntil,
  CLASSES,
  newCall,
  placesOf,
  stageCrashPlane,
  type CrashPlane,
  type EffectClass,
  type Point,
  type Staged,
} from './crash-plane.ts';
import type { Tally } from './tally.ts';

const WAIT_MS = 20_000;
const ENDS = ['call.settled', 'call.cancelled', 'call.expired'];
/** The places that `npm test` tries. */
const SHORT = ['before acceptCall', 'after acceptCall', 'after takeReplies'];

interface Scene {
  readonly plane: CrashPlane;
  /** The gateway that gets the same call after the other one died. */
  readonly survivor: Staged;
  readonly agent: MadeToken;
  readonly operator: MadeToken;
  readonly effect: EffectClass;
}

/**
 * Kills a gateway, or the store, before and after each request that the gateway makes to the store while it serves a call. A caller
 * that sends the call again to another gateway, under the same key, gets its outcome: the tool ran once, and the audit that both
 * gateways drain has one end of the call.
 * Uses a plane of its own, because gateways take the audit out of the store.
 */
export async function killGateways(tally: Tally, options: LayerOptions): Promise<void> {
  const { store, short } = options;
  const plane = await stageCrashPlane(store);
  try {
    const worker = await plane.takeWorker();
    worker.process.send({ kind: 'go' });
    const survivor = await plane.startGateway();
    const agent = await createToken(plane.store, { scopes: ['agent'], identity: { subject: 'alice', agent: 'main' } });
    const operator = await createToken(plane.store, { scopes: ['operator'] });
    for (const effect of short ? (['unsafe'] as const) : CLASSES) {
      const scene: Scene = { plane, survivor, agent, operator, effect };
      const places = short ? SHORT : placesOf(await askThrough(scene, undefined));
      options.log(`crash-points: a gateway that calls a tool that is ${effect}: ${places.join(', ')}`);
      for (const victim of store === 'redis' && !short ? (['self', 'store'] as const) : (['self'] as const)) {
        for (const place of places) {
          const title = `${victim === 'self' ? 'a gateway' : 'Redis'} dies ${place} of a gateway, the tool is ${effect}`;
          await tally.attempt(title, async () => void (await askThrough(scene, { place, hit: 1, victim })));
        }
      }
    }
  } finally {
    await plane.stop();
  }
}

/** Sends a call through a gateway that may die, then sends the same call to the survivor. Returns the trace of the first gateway. */
async function askThrough(scene: Scene, point: Point | undefined): Promise<string[]> {
  const { plane, survivor, effect } = scene;
  const gateway = await plane.startGateway();
  const going = gateway.next('going');
  gateway.process.send({ kind: 'go', ...(point === undefined ? {} : { point }) });
  await going;
  const { key, tool, args } = newCall(plane, effect, 0);
  const send = (to: Staged): Promise<Answer | undefined> =>
    post(to, scene.agent, key, { tool, arguments: args, waitMs: WAIT_MS });
  const first = await approved(scene, send(gateway));
  const trace = gateway.trace();
  gateway.process.kill('SIGKILL');
  await gateway.process.exited;
  if (point === undefined)
    expect(first, 'the answer of a gateway that lives').toMatchObject({ outcome: { kind: 'ok' } });
  const answer = await approved(
    scene,
    untilSettled(() => send(survivor)),
  );
  expect(answer.outcome).toMatchObject({ kind: 'ok', executed: 'yes' });
  if (first?.state === 'settled') expect(answer, 'the answer of the second gateway').toEqual(first);
  const starts = plane.effects().filter((line) => line.includes(` ${key} `));
  expect(starts, 'starts of the tool').toHaveLength(1);
  await expectOneEnd(scene, answer.callId);
  return trace;
}

interface Answer {
  readonly callId: string;
  readonly state: 'settled' | 'pending';
  readonly outcome?: object;
}

/** Undefined when the gateway died, or answered with an error because its store is gone. */
async function post(to: Staged, token: MadeToken, key: string, body: object): Promise<Answer | undefined> {
  const headers = { authorization: `Bearer ${token.text}`, 'content-type': 'application/json', 'idempotency-key': key };
  const response = await fetch(`${to.url}/v1/calls`, { method: 'POST', headers, body: JSON.stringify(body) }).catch(
    () => undefined,
  );
  return response?.ok ? ((await response.json().catch(() => undefined)) as Answer | undefined) : undefined;
}

function untilSettled(ask: () => Promise<Answer | undefined>): Promise<Answer> {
  return eventually(
    async () => {
      const answer = await ask();
      return answer?.state === 'settled' ? answer : undefined;
    },
    { timeoutMs: 100_000, everyMs: 100, what: 'the second gateway to answer' },
  );
}

async function approved<T>({ plane, effect }: Scene, answering: Promise<T>): Promise<T> {
  if (effect === 'approval') await approveUntil(plane, answering);
  return answering;
}

/**
 * Waits until the end of the call is in the audit, and expects it once. A gateway has to drain the lane first; if the one that held the
 * lane died, the other one has to wait until its right to drain has run out.
 */
async function expectOneEnd({ survivor, operator }: Scene, callId: string): Promise<void> {
  const headers = { authorization: `Bearer ${operator.text}` };
  const ends = await eventually(
    async () => {
      const response = await fetch(`${survivor.url}/v1/calls/${callId}`, { headers });
      if (!response.ok) return undefined;
      const { audit } = (await response.json()) as { audit: { event: string }[] };
      const found = audit.map(({ event }) => event).filter((event) => ENDS.includes(event));
      return found.length > 0 ? found : undefined;
    },
    { everyMs: 50, what: `the end of ${callId} in the audit` },
  );
  expect(ends, 'ends in the audit').toEqual(['call.settled']);
}
