import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';
import type { AuditEntry } from '../../../src/domain/ports/audit-store.ts';
import { expectSameAudit, expectSameRecord, expectSameReplies } from '../../contract/model-agreement.ts';
import { drainReplies, readWholeAudit } from '../../contract/observe.ts';
import { ACTIONS } from './interleaved-actions.ts';
import { newWorld, stateKey, type World } from './interleaved-world.ts';
import { embeddedLapsingStores, redisLapsingStores, type LapsingStore, type LapsingStores } from './lapsing-store.ts';
import { inParallel, Tally } from './tally.ts';

interface Root {
  readonly path: readonly string[];
  /** The number of steps to explore from there. */
  readonly depth: number;
}

/** A search from the very beginning. Each additional step of depth takes about three times as long. */
const LONG: readonly Root[] = [{ path: [], depth: 7 }];
/**
 * Searches that begin a few steps before a case that matters: a start that is lost, a question that is answered, two workers that run calls.
 * So they find it at a small depth.
 */
const SHORT: readonly Root[] = [
  { path: [], depth: 3 },
  { path: ['accept b', 'claim by 1', 'start b by 1'], depth: 3 },
  { path: ['accept a', 'claim by 1', 'leases run out'], depth: 2 },
  { path: ['accept a', 'claim by 1', 'ask about a by 1'], depth: 2 },
  { path: ['accept a', 'accept b', 'claim by 1', 'claim by 2'], depth: 1 },
];
/** The search stops after this many violations: more would only repeat the same fault. */
const TOO_MANY = 50;
/** Redis runs in a process of its own, so several paths are walked at the same time, each in its own deployment. */
const REDIS_WIDTH = 8;
/** The number of paths after which the stores are replaced by new ones, so that no store grows large. */
const PATHS_PER_CHUNK = 4_000;

/** A state, given by the shortest path to it, and the actions that are possible there. */
interface Reached {
  readonly path: readonly string[];
  readonly enabled: readonly string[];
}

interface Walked extends Reached {
  readonly key: string;
  readonly world: World;
}

/**
 * Walks every order of the steps of two calls and two workers, up to a depth. A state is reached again by walking its shortest path in
 * a new subject and pool. Each edge is walked once; after it the store's records and replies are compared with the model's. The audit
 * of all of them is compared before their store is deleted.
 */
export async function run(options: LayerOptions): Promise<LayerResult> {
  const tally = new Tally(options);
  const stores = options.store === 'redis' ? await redisLapsingStores() : embeddedLapsingStores();
  try {
    await explore(stores, tally, options);
  } finally {
    await stores.stop();
  }
  return tally.result();
}

async function explore(stores: LapsingStores, tally: Tally, options: LayerOptions): Promise<void> {
  // The embedded store runs on this thread, so only one path is walked at a time.
  const width = options.store === 'redis' ? REDIS_WIDTH : 1;
  const seen = new Set<string>();
  for (const root of options.short ? SHORT : LONG) {
    let frontier: Reached[] = await walkChunk(stores, width, [root.path], tally);
    for (let step = 1; step <= root.depth && frontier.length > 0; step += 1) {
      const edges = frontier.flatMap(({ path, enabled }) => enabled.map((name) => [...path, name]));
      frontier = [];
      for (let from = 0; from < edges.length; from += PATHS_PER_CHUNK) {
        const walked = await walkChunk(stores, width, edges.slice(from, from + PATHS_PER_CHUNK), tally);
        for (const { key, path, enabled } of walked) {
          if (seen.has(key)) continue;
          seen.add(key);
          frontier.push({ path, enabled });
        }
        if (tally.violated > TOO_MANY) return;
      }
      const place = root.path.length + step;
      options.log(
        `interleavings: depth ${place}: ${edges.length} edges walked, ${seen.size} states known, ${tally.tried} in all`,
      );
    }
  }
}

/** Walks these paths; returns the results in the order of the paths, whatever order they end in. Paths that failed are left out. */
async function walkChunk(
  stores: LapsingStores,
  width: number,
  paths: readonly (readonly string[])[],
  tally: Tally,
): Promise<Walked[]> {
  const idle = [...(await stores.open(width))];
  const walked: (Walked | undefined)[] = [];
  await inParallel([...paths.entries()], width, async ([index, path]) => {
    const lapsing = idle.pop()!;
    await tally.attempt(path.join(', '), async () => {
      walked[index] = await walk(lapsing, path);
    });
    idle.push(lapsing);
  });
  const whole = walked.filter((each) => each !== undefined);
  for (const lapsing of idle) await compareAudit(lapsing, whole, tally);
  await stores.clear();
  return whole;
}

async function walk(lapsing: LapsingStore, path: readonly string[]): Promise<Walked> {
  const world = await newWorld(lapsing);
  for (const name of path) await ACTIONS.get(name)!.run(world);
  const { model, real } = world;
  for (const call of model.calls.values()) await expectSameRecord(call, real);
  expectSameReplies(model, await drainReplies(lapsing.store, real.session.lane, real.callerId));
  const enabled = [...ACTIONS.values()].filter((action) => action.applies(world)).map((action) => action.name);
  return { path, enabled, key: stateKey(world), world };
}

/** False for a world with parked calls of a revoked session: reaps of later worlds in the same store may have ended those calls. */
const isLeftAlone = ({ world }: Walked): boolean =>
  !world.revoked || [...world.model.calls.values()].every((call) => call.state !== 'parked');

async function compareAudit(lapsing: LapsingStore, walked: readonly Walked[], tally: Tally): Promise<void> {
  const own = walked.filter((each) => each.world.lapsing === lapsing && isLeftAlone(each));
  const entries = new Map<string, AuditEntry[]>();
  for (const entry of await readWholeAudit(lapsing.store, 0)) {
    if (entry.callId === undefined) continue;
    entries.set(entry.callId, [...(entries.get(entry.callId) ?? []), entry]);
  }
  for (const { path, world } of own) {
    for (const call of world.model.calls.values()) {
      try {
        await expectSameAudit(call, world.real, entries.get(call.callId) ?? []);
      } catch (error) {
        tally.violate(`${path.join(', ')}: audit: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}
