import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import type { ApprovalDecision } from '../../../src/domain/policy/approval.ts';
import { randomId } from '../../../src/domain/identity/new-id.ts';
import { OPERATOR, policyWith } from '../../plane/support/gate-plane.ts';
import { stagePlane, type StagedPlane } from '../../plane/support/stage-plane.ts';
import { eventually, spawnNode } from '../../support/process.ts';
import type { WatchedProcess } from '../../support/watched-process.ts';

/** No worker takes over from a live one here, so this is only how long the plane waits for a dead worker. */
const LEASE_MS = 1_000;
const MODULES = fileURLToPath(new URL('../../fixtures/chaos-plane', import.meta.url));
const SCRIPT = fileURLToPath(new URL('crash-process.mjs', import.meta.url));

/** The tools of the fixture: three effects, and one tool that needs an approval. */
export const CLASSES = ['read', 'idempotent', 'unsafe', 'approval'] as const;
export type EffectClass = (typeof CLASSES)[number];

/** The place of a crash, the number of times that place is passed first, and what dies there. */
export interface Point {
  readonly place: string;
  readonly hit: number;
  readonly victim: 'self' | 'store';
}

/** A process that does nothing until it gets a message. */
export interface Staged {
  readonly process: WatchedProcess;
  /** The address where it serves HTTP; empty unless it is a gateway. */
  readonly url: string;
  /** Its requests to the store and the answers, as `before <method> <callId>` and `after …`, and the place where it died. */
  trace(): string[];
  /** Resolves with the next message of this kind; undefined when the process ends first. */
  next(kind: string): Promise<unknown>;
}

export interface CrashPlane extends StagedPlane {
  /** Returns a worker that was started in advance, because starting takes longer than dying. */
  takeWorker(): Promise<Staged>;
  startCaller(): Promise<Staged>;
  startGateway(): Promise<Staged>;
  decideAll(decision: ApprovalDecision): Promise<void>;
}

type Role = 'worker' | 'caller' | 'gateway';

function optionsFor(role: Role, { storeOptions, folder }: StagedPlane): object {
  switch (role) {
    case 'worker':
      return { ...storeOptions, modules: MODULES, leaseMs: LEASE_MS };
    case 'caller':
      return storeOptions;
    case 'gateway':
      return { ...storeOptions, leaseMs: LEASE_MS, config: gatewayConfig(storeOptions.store, folder) };
  }
}

function gatewayConfig(store: LayerOptions['store'], folder: string): object {
  const sink = store === 'redis' ? { sink: 'sqlite', file: join(folder, 'audit.sqlite') } : {};
  return { store, folder, audit: { keys: join(folder, 'audit-keys'), ...sink }, gateway: { http: { port: 0 } } };
}

async function stage(role: Role, plane: StagedPlane): Promise<Staged> {
  const file = join(plane.folder, `trace-${randomId()}`);
  const env = { ROLE: role, TRACE: file, OPTIONS: JSON.stringify(optionsFor(role, plane)) };
  const child = await spawnNode(SCRIPT, [], { env, ipc: true });
  const [, url = ''] = (await child.waitForLine(/^ready /)).split(' ');
  const waiting = new Map<string, (message: unknown) => void>();
  child.onMessage((message) => {
    const { kind } = message as { kind: string };
    if (kind === 'kill-store') void killStore(plane, child);
    waiting.get(kind)?.(message);
    waiting.delete(kind);
  });
  const next = (kind: string): Promise<unknown> =>
    Promise.race([child.exited.then(() => undefined), new Promise((resolve) => waiting.set(kind, resolve))]);
  const trace = (): string[] => readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split('\n').filter(Boolean);
  return { process: child, url, trace, next };
}

async function killStore(plane: StagedPlane, child: WatchedProcess): Promise<void> {
  await plane.redis!.kill('SIGKILL');
  await plane.redis!.restart();
  if (child.exit === undefined) child.send({ kind: 'store-back' });
}

const BOOTED_AHEAD = 2;

/** A plane whose policy asks about `crash.approval`, with workers that wait for a message with the place where they die. */
export async function stageCrashPlane(backend: LayerOptions['store']): Promise<CrashPlane> {
  const plane = await stagePlane(backend, 'always');
  await plane.setPolicy(
    policyWith([{ id: 'ask', verdict: 'ask', tools: ['crash.approval'], reason: 'It is asked about.' }]),
  );
  const started: Staged[] = [];
  const start = async (role: Role): Promise<Staged> => {
    const staged = await stage(role, plane);
    started.push(staged);
    return staged;
  };
  const ahead: Promise<Staged>[] = [];
  return {
    ...plane,
    takeWorker: async () => {
      while (ahead.length <= BOOTED_AHEAD) ahead.push(start('worker'));
      return ahead.shift()!;
    },
    startCaller: () => start('caller'),
    startGateway: () => start('gateway'),
    decideAll: async (decision) => {
      for (const { question } of await plane.store.listApprovals({ state: 'pending', limit: 100 })) {
        await plane.client.approvals.decide(OPERATOR, question.id, { decision, binding: question.binding });
      }
    },
    stop: async () => {
      await Promise.allSettled(ahead);
      for (const { process: child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ process: child }) => child.exited));
      await plane.stop();
    },
  };
}

/** Allows every pending approval until `done` has settled. */
export async function approveUntil(plane: CrashPlane, done: Promise<unknown>): Promise<void> {
  let isDone = false;
  void done.then(
    () => (isDone = true),
    () => (isDone = true),
  );
  await eventually(
    async () => {
      await plane.decideAll('allow-once');
      return isDone;
    },
    { timeoutMs: 120_000, everyMs: 25, what: 'the calls to end' },
  );
}

/** Methods that run in the background, independently of the calls. Their place in a trace is a matter of time, and no call depends on them. */
const BESIDE = new Set([
  'now',
  'checkIncarnation',
  'beatWorker',
  'registerWorker',
  'deregisterWorker',
  'close',
  'watchCatalog',
]);
/** The places that a run passes, each once, in order. */
export function placesOf(trace: readonly string[]): string[] {
  const places = trace.map((line) => line.split(' ').slice(0, 2).join(' '));
  return [...new Set(places)].filter((place) => !BESIDE.has(place.split(' ')[1]!));
}

/** A new call with a key of its own. The tool writes the key into its line in the file of effects. */
export function newCall(plane: CrashPlane, effect: EffectClass, ms: number) {
  const key = randomId();
  return { key, tool: `crash.${effect}`, args: { file: plane.effectFile, line: key, ms } };
}
