import { randomUUID } from 'node:crypto';
import { planeError } from '../../domain/errors.ts';
import type {
  AcceptAnswer,
  AcceptRequest,
  SettleAnswer,
  SettleRequest,
  StartAnswer,
  StartRequest,
} from '../../ports/call-store.ts';
import { laneOfScopedId } from '../../domain/ids.ts';
import type { Store } from '../../ports/store.ts';
import { batchPerLane } from './batch-per-lane.ts';
import { acceptCalls } from './accept-calls.ts';
import { asList, asNumber, asText } from './answers.ts';
import { createApprovalStore } from './approval-store.ts';
import * as change from './change-calls.ts';
import { claimCalls, recheckSessions, reclaimCalls, type LaneWatch } from './claim-calls.ts';
import {
  openConnection,
  sendCommand,
  toPlaneError,
  untilReady,
  type Connection,
  type RedisConnectionOptions,
} from './connection.ts';
import { createCatalogStore, createFleetRegistry, createPolicyStore } from './deployment-store.ts';
import { callFunction, loadLibrary, readFunctions, type StoreFunction } from './function-library.ts';
import { createGrantStore } from './grant-store.ts';
import { deploymentKeys, laneKeys } from './keys.ts';
import { createOutboundStore } from './outbound-store.ts';
import { forgetDeadPools } from './private-pools.ts';
import * as read from './read-calls.ts';
import { createRedisContext, type RedisContext } from './redis-context.ts';
import { refuseUnsafeServer } from './safety.ts';
import { createSessionStore } from './session-store.ts';
import { renewCalls, settleCalls, startCalls } from './settle-calls.ts';

export interface RedisStoreOptions extends Partial<RedisConnectionOptions> {
  /** Several deployments can share a server under different names. */
  readonly name?: string;
  /** Only for a new store; an existing one keeps its number. */
  readonly lanes?: number;
  readonly patienceMs?: number;
}

const SCHEMA_VERSION = '1';
const NAME = /^[A-Za-z0-9][A-Za-z0-9_:.-]{0,63}$/;

export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const name = options.name ?? 'sallyport';
  if (!NAME.test(name))
    throw planeError('CONFIG_INVALID', { problems: ['redis name must be letters, digits, _ : . -'] });
  const patienceMs = options.patienceMs ?? 15_000;
  const connection: RedisConnectionOptions = { commandTimeoutMs: 10_000, ...options };
  const commands = openConnection(connection, 'commands');
  try {
    await untilReady(commands, patienceMs);
    const facts = await refuseUnsafeServer(commands);
    const functions = readFunctions();
    await loadLibrary(commands, functions);
    const founded = await foundStore(commands, functions, name, options.lanes, facts.cluster);
    const context = createRedisContext({ name, ...founded, connection, commands, functions, patienceMs });
    return createStore(context);
  } catch (error) {
    commands.disconnect();
    throw toPlaneError(error);
  }
}

interface Founded {
  readonly incarnation: string;
  readonly lanes: number;
}

/** The first process gives the store its incarnation and number of lanes; everybody after it has to agree. */
async function foundStore(
  commands: Connection,
  functions: ReadonlyMap<string, StoreFunction>,
  name: string,
  wantedLanes: number | undefined,
  cluster: boolean,
): Promise<Founded> {
  const key = deploymentKeys(name).incarnation;
  const proposed = { id: randomUUID(), lanes: String(wantedLanes ?? (cluster ? 16 : 1)), schema: SCHEMA_VERSION };
  for (const [field, value] of Object.entries(proposed)) await sendCommand(commands, 'HSETNX', [key, field, value]);
  const [id, lanes, schema] = asList(await sendCommand(commands, 'HMGET', [key, 'id', 'lanes', 'schema']));
  if (asText(schema) !== SCHEMA_VERSION) {
    throw planeError('STORE_VERSION', { found: asText(schema), known: SCHEMA_VERSION });
  }
  if (wantedLanes !== undefined && asNumber(lanes) !== wantedLanes) {
    throw planeError('STORE_LANES', { configured: wantedLanes, found: asNumber(lanes) });
  }
  const founded = { incarnation: asText(id), lanes: asNumber(lanes) };
  const foundLane = functions.get('found_lane')!;
  for (let lane = 0; lane < founded.lanes; lane += 1) {
    const { meta, live } = laneKeys(name, lane);
    const call = { keys: { meta, live }, args: { incarnation: founded.incarnation } };
    const found = asText(asList(await callFunction(commands, foundLane, call))[1]);
    if (found !== founded.incarnation) throw planeError('STORE_REPLACED', { expected: founded.incarnation, found });
  }
  return founded;
}

function createStore(context: RedisContext): Store {
  const watch: LaneWatch = new Map();
  const policies = createPolicyStore(context);
  const fleet = createFleetRegistry(context);
  const accepts = batchPerLane<AcceptRequest, AcceptAnswer>(
    (lane, requests) => acceptCalls(context, lane, requests),
    (request) => request.envelope.length,
  );
  const settles = batchPerLane<SettleRequest, SettleAnswer>(
    (lane, requests) => settleCalls(context, lane, requests),
    (request) => request.outcome.length,
  );
  const starts = batchPerLane<StartRequest, StartAnswer>(
    (lane, requests) => startCalls(context, lane, requests),
    () => 0,
  );

  return {
    lanes: context.lanes,
    acceptCall(request) {
      const lane = laneOfScopedId(request.callId);
      const isFirst = !request.callId.includes('~');
      if (lane >= 0 && lane < context.lanes && isFirst) return accepts.add(lane, request);
      // An id that no subject of this store can have is nobody's.
      return Promise.resolve({ kind: 'unauthenticated', ending: 'unknown' });
    },
    claimCalls: (request) => claimCalls(context, watch, request),
    reclaimCalls: (request) => reclaimCalls(context, watch, request),
    recheckSessions: (request) => recheckSessions(context, watch, request),
    renewCalls: (request) => renewCalls(context, request),
    startCall: (request) => starts.add(checkedLane(context, request.callId), request),
    settleCall: (request) => settles.add(checkedLane(context, request.callId), request),
    abandonCall: (request) => change.abandonCall(context, request),
    cancelCall: (request) => change.cancelCall(context, request),
    async reapCalls(request) {
      if (request.lane === 0) await policies.repairLanes();
      const reaped = await change.reapCalls(context, request);
      if (request.lane === 0 && request.pools.length > 0) {
        await forgetDeadPools(context, fleet, request.consumerIdleMs);
      }
      return reaped;
    },
    notifyWaiters: (request) => change.notifyWaiters(context, request),
    resolveCall: (request) => change.resolveCall(context, request),
    takeReplies: (request) => read.takeReplies(context, request),
    readCall: (callId) => read.readCall(context, callId),
    listCalls: (request) => read.listCalls(context, request),
    readAudit: (request) => read.readAudit(context, request),
    queueState: () => read.queueState(context),
    ...createApprovalStore(context),
    ...createGrantStore(context),
    ...createSessionStore(context),
    ...createOutboundStore(context),
    readPolicy: () => policies.readPolicy(),
    readNewerPolicy: (request) => policies.readNewerPolicy(request),
    writePolicy: (request) => policies.writePolicy(request),
    ...createCatalogStore(context),
    ...fleet,
    async now() {
      const [seconds, microseconds] = asList(await context.command('TIME'));
      return asNumber(seconds) * 1000 + Math.floor(asNumber(microseconds) / 1000);
    },
    async checkIncarnation() {
      const found = await context.command('HGET', context.deployment.incarnation, 'id');
      if (found !== context.incarnation) {
        throw planeError('STORE_REPLACED', {
          expected: context.incarnation,
          found: found === null ? 'none' : asText(found),
        });
      }
    },
    close: () => context.close(),
  };
}

function checkedLane(context: RedisContext, callId: SettleRequest['callId']): number {
  const lane = laneOfScopedId(callId);
  if (lane < 0 || lane >= context.lanes) throw planeError('CALL_UNKNOWN', { callId });
  return lane;
}
