import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../../support/process.ts';
import type { BackendName } from '../stage-plane.ts';
import { stageHygiene, type HygienePlane } from './hygiene-plane.ts';
import type { HygieneProcess } from './hygiene-process.ts';
import { judgeHygiene, nearest, startOf, type Rest, type Row } from './judge-hygiene.ts';
import { plant, type Plant } from './plant-leak.ts';
import { sampleDoors, sampleProcesses } from './sample-processes.ts';
import { sampleCopy, sampleFiles, sampleTables } from './sample-files.ts';
import { watchRedis, type RedisWatch } from './sample-redis.ts';
import { createSample, type Sample } from './sample.ts';
import { join } from 'node:path';

export interface RunWish {
  readonly backend: BackendName;
  readonly seed: number;
  /** New rounds begin until this time has passed; there are at least `leastRounds`. */
  readonly minutes: number;
  readonly leastRounds: number;
  readonly steps: number;
  /** Leaks that are planted on purpose in every round. */
  readonly plants: readonly Plant[];
  readonly tell: (line: string) => void;
}

export interface RunReport {
  readonly rounds: number;
  readonly minutes: number;
  readonly endings: Readonly<Record<string, number>>;
  readonly rows: readonly Row[];
  /** What still exists after everything was ended in order. */
  readonly afterwards: readonly string[];
}

const LOOK_EVERY_MS = 500;
/** Longer than anything is kept in the compressed copy. */
const REST_MS = 60_000;
const START_REST_MS = 20_000;
const STEADY_TOKEN_MS = 24 * 60 * 60 * 1000;
const BRIEF_TOKEN_MS = 15_000;

export async function runHygiene(wish: RunWish): Promise<RunReport> {
  const { tell } = wish;
  const startedMs = performance.now();
  tell('starting the plane');
  const plane = await stageHygiene(wish.backend);
  const watch = plane.redis && (await watchRedis(plane.redis.url));
  const look: Look = (how) => sampleAll(plane, watch, how);
  try {
    const desk = (await plane.makeToken({ scope: 'operator', lifetimeMs: STEADY_TOKEN_MS })).text;
    const agent = (await plane.makeToken({ scope: 'agent', lifetimeMs: STEADY_TOKEN_MS })).text;
    const endings: Record<string, number> = {};
    const earlyMs = startedMs + (wish.minutes * 60_000) / 3;
    const round = (number: number): Promise<void> =>
      runRound(plane, watch, { ...wish, number, desk, agent, endings, isEarly: performance.now() < earlyMs });
    tell('round 0, to warm up');
    await round(0);
    const start = await restAtStart(plane, look);
    const rests: Rest[] = [{ atMs: performance.now() - startedMs, ...start }];
    const endMs = startedMs + wish.minutes * 60_000;
    for (let number = 1; number <= wish.leastRounds || performance.now() < endMs; number += 1) {
      const roundMs = performance.now();
      await round(number);
      await plant(wish.plants, plane, watch);
      const loadedMs = performance.now();
      const rest = await restUntilBack(plane, look, start.counts);
      rests.push({ atMs: performance.now() - startedMs, ...rest.rest });
      const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
      const seconds = (fromMs: number, toMs: number): string => ((toMs - fromMs) / 1000).toFixed(0);
      tell(
        `${minutes} of ${wish.minutes} min, round ${number}: load ${seconds(roundMs, loadedMs)} s, rest ${seconds(loadedMs, performance.now())} s, ` +
          (rest.away.length === 0 ? 'everything is back' : `not back: ${rest.away.slice(0, 6).join('; ')}`),
      );
    }
    const rows = judgeHygiene(rests);
    tell('ending everything in order');
    const afterwards = await endInOrder(plane, watch);
    const minutes = (performance.now() - startedMs) / 60_000;
    return { rounds: rests.length - 1, minutes, endings, rows, afterwards };
  } finally {
    watch?.close();
    await plane.remove();
  }
}

type Look = (how: { readonly thorough: boolean }) => Promise<Sample>;

async function sampleAll(
  plane: HygienePlane,
  watch: RedisWatch | undefined,
  { thorough }: { thorough: boolean },
): Promise<Sample> {
  const sample = createSample();
  await sampleDoors(sample, plane.processes, thorough);
  sampleProcesses(sample, plane.temporary, plane.processes);
  sampleFiles(sample, plane.folder);
  if (watch === undefined) await sampleCopy(sample, plane.store, plane.folder);
  else sampleTables(sample, 'audit rows', join(plane.folder, 'audit.sqlite'));
  await watch?.sample(sample);
  return sample;
}

/** Waits until no call is under way and no question is pending. */
async function untilDrained(plane: HygienePlane): Promise<void> {
  await eventually(async () => (await plane.store.listCalls({ limit: 1 })).length === 0, {
    everyMs: 200,
    what: 'all calls to end',
  });
}

async function restAtStart(plane: HygienePlane, look: Look): Promise<Omit<Rest, 'atMs'>> {
  await untilDrained(plane);
  await pause(START_REST_MS);
  const samples: Sample[] = [];
  for (let number = 0; number < 10; number += 1) {
    samples.push(await look({ thorough: number === 9 }));
    await pause(LOOK_EVERY_MS);
  }
  const counts = withPeers(startOf(samples));
  return { ...nearest(samples, counts), counts };
}

/**
 * A connection is opened when it is first needed, so a new worker has fewer than one that has seen everything. worker-1, which is
 * never restarted, is the measure.
 */
function withPeers(counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const peers = [...counts].flatMap(([name, count]): [string, number][] => {
    const ofPeer = name.replace(/ of worker-\d/, ' of worker-1');
    return [[name, Math.max(count, counts.get(ofPeer) ?? 0)]];
  });
  return new Map(peers);
}

/** Takes samples until each count was back at its value of the start, or until the longest time that anything may be kept has passed. */
async function restUntilBack(plane: HygienePlane, look: Look, start: ReadonlyMap<string, number>) {
  await untilDrained(plane);
  const samples: Sample[] = [];
  const untilMs = performance.now() + REST_MS;
  let away: string[];
  do {
    await pause(LOOK_EVERY_MS);
    samples.push(await look({ thorough: false }));
    const { counts } = nearest(samples, start);
    away = [...counts]
      .filter(([name, value]) => value > (start.get(name) ?? 0))
      .map(([name, value]) => `${name} ${start.get(name) ?? 0} → ${value}`);
  } while (away.length > 0 && performance.now() < untilMs);
  samples.push(await look({ thorough: true }));
  return { rest: nearest(samples, start), away };
}

interface RoundWish extends RunWish {
  readonly number: number;
  readonly desk: string;
  readonly agent: string;
  readonly endings: Record<string, number>;
  /** True in the first third of the run. */
  readonly isEarly: boolean;
}

async function runRound(plane: HygienePlane, watch: RedisWatch | undefined, wish: RoundWish): Promise<void> {
  const { number, seed, steps, endings } = wish;
  const brief = await Promise.all([1, 2].map(() => plane.makeToken({ scope: 'agent', lifetimeMs: BRIEF_TOKEN_MS })));
  const http = { url: plane.gatewayUrl, desk: wish.desk, agents: [wish.agent, ...brief.map(({ text }) => text)] };
  const load = async (caller: HygieneProcess, share: number, more: object = {}): Promise<void> => {
    const order = {
      kind: 'load',
      seed: seed * 7919 + number * 31 + share,
      steps: Math.ceil(steps / share),
      atOnce: 10,
      ...more,
    };
    const { answer, problem } = await caller.ask<{ answer?: Record<string, number>; problem?: string }>({ order });
    if (answer === undefined) throw new Error(`${caller.role}: ${problem}`);
    for (const [word, count] of Object.entries(answer)) endings[word] = (endings[word] ?? 0) + count;
  };
  const caller = plane.processes.at(-1)!;
  // Two kinds of visitors alternate: one that closes what it opened, and one that is killed in the middle of its load.
  const visitor = plane.newCaller(number % 2 === 0 ? 'guest' : 'victim');
  const visit = async (): Promise<void> => {
    await visitor.start();
    if (number % 2 === 0) {
      await load(visitor, 4);
      return visitor.leave();
    }
    const dying = load(visitor, 2).catch(() => undefined);
    await pause(1500);
    await visitor.end('SIGKILL');
    await dying;
  };
  await Promise.all([load(caller, 1, { http, leak: number % 3 === 0 }), visit(), disturb(plane, watch, wish)]);
  await plane.store.revokeToken({ id: brief[0]!.id });
}

/** Causes one fault after another while the load goes on. */
async function disturb(
  plane: HygienePlane,
  watch: RedisWatch | undefined,
  { number, isEarly }: Pick<RoundWish, 'number' | 'isEarly'>,
): Promise<void> {
  const others = plane.workers.filter(({ role }) => role !== 'worker-1');
  const worker = others[number % others.length]!;
  plane.writeModules(number + 2, isEarly ? ['near', 'apart'] : ['apart']);
  await pause(800);
  await plane.setPolicy(number + 2);
  await watch?.killClients();
  await worker.end(number % 4 < 2 ? 'SIGKILL' : 'SIGTERM');
  await worker.start();
  plane.writeConfig(number % 2 === 0 ? 'warn' : 'error');
  await pause(500);
  await plane.proxy?.cut();
}

/** Ends every process with SIGTERM. Then nothing of the run may exist but what is meant to be kept. */
async function endInOrder(plane: HygienePlane, watch: RedisWatch | undefined): Promise<string[]> {
  await plane.drain();
  const leftNow = async (): Promise<string[]> => {
    const sample = createSample();
    sampleProcesses(sample, plane.temporary, []);
    sampleFiles(sample, plane.folder);
    await watch?.sample(sample);
    const unwanted =
      /^(processes|redis clients|redis consumers|redis pending|files: t$|redis keys: (body|reply|worker|recent):)/;
    return [...sample.members]
      .filter(([name]) => unwanted.test(name))
      .flatMap(([name, members]) => members.map((each) => `${name}: ${each}`));
  };
  const untilMs = performance.now() + REST_MS;
  let left = await leftNow();
  while (left.length > 0 && performance.now() < untilMs) {
    await pause(LOOK_EVERY_MS);
    left = await leftNow();
  }
  return left;
}
