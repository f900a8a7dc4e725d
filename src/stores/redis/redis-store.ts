import { planeError } from '../../domain/errors/errors.ts';
import type {
  AcceptAnswer,
  AcceptRequest,
  SettleAnswer,
  SettleRequest,
  StartAnswer,
  StartRequest,
} from '../../domain/ports/call-requests.ts';
import { laneOfScopedId } from '../../domain/identity/ids.ts';
import type { JournalStore } from '../../domain/ports/store.ts';
import { laneUse } from './lane-use.ts';
import { batchPerLane } from './batch-per-lane.ts';
import { acceptCalls } from './accept-calls.ts';
import { asList, asNumber, asText } from './answers.ts';
import { createAuditSource } from './audit-store.ts';
import { createApprovalStore } from './approval-store.ts';
import * as change from './change-calls.ts';
import { claimCalls, createLaneWatch, recheckSessions, reclaimCalls, type LaneWatch } from './claim-calls.ts';
import { openConnection, toPlaneError } from './connection.ts';
import { createPinStore } from './pin-store.ts';
import { createCatalogStore, createFleetRegistry, createPolicyStore } from './deployment-store.ts';
import { loadLibrary, readFunctions } from './function-library.ts';
import { createGrantStore } from './grant-store.ts';
import { condemnStore, foundStore } from './incarnation-record.ts';
import { createOutboundStore } from './outbound-store.ts';
import { createOwedStore } from './owed-store.ts';
import { forgetDeadPools } from './private-pools.ts';
import * as read from './read-calls.ts';
import { createRedisContext, type RedisContext } from './redis-context.ts';
import type { RedisConnectionOptions, RedisStoreOptions } from './redis-options.ts';
import { reachServer } from './reach-server.ts';
import { refuseUnsafeServer } from './safety.ts';
import { createSessionStore } from './session-store.ts';
import { renewCalls, settleCalls, startCalls } from './settle-calls.ts';
import { createTokenStore } from './token-store.ts';
import { pause } from '../../base/pause.ts';

const TRY_AGAIN_MS = 50;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_:.-]{0,63}$/;

export async function openRedisStore(options: RedisStoreOptions): Promise<JournalStore> {
  const name = options.name ?? 'sallyport';
  if (!NAME.test(name))
    throw planeError('CONFIG_INVALID', { problems: ['redis name must be letters, digits, _ : . -'] });
  const patienceMs = options.patienceMs ?? 15_000;
  const connection: RedisConnectionOptions = { commandTimeoutMs: 10_000, ...options };
  const commands = openConnection(connection, 'commands');
  const { lanes, create = true } = options;

  async function openOnce(): Promise<JournalStore> {
    const facts = await refuseUnsafeServer(commands, name);
    const functions = readFunctions();
    await loadLibrary(commands, functions);
    const founded = await foundStore(commands, functions, { name, lanes, cluster: facts.cluster, create });
    const context = createRedisContext({ name, ...founded, connection, commands, functions, patienceMs });
    return createStore(context);
  }

  const endsAt = performance.now() + patienceMs;
  try {
    for (;;) {
      await reachServer(commands, connection, Math.max(0, endsAt - performance.now()));
      try {
        return await openOnce();
      } catch (error) {
        // The connection was lost between two commands. All of them may be sent again, so a process that starts together with the server
        // tries again instead of failing.
        const isCut = toPlaneError(error).code === 'STORE_UNAVAILABLE';
        if (!isCut || performance.now() >= endsAt) throw error;
        await pause(TRY_AGAIN_MS);
      }
    }
  } catch (error) {
    commands.disconnect();
    throw toPlaneError(error);
  }
}

export function createStore(context: RedisContext): JournalStore {
  const watch: LaneWatch = createLaneWatch((lane, seen, found) =>
    condemnStore((...command) => context.command(...command), context.deployment.incarnation, context.incarnation, {
      kind: 'older',
      lane,
      seen,
      found,
    }),
  );
  const policies = createPolicyStore(context);
  const fleet = createFleetRegistry(context);
  const sessions = createSessionStore(context);
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
      // No caller has such an id: its lane does not exist in this store, or it names a later generation of a key (`~2`), which only the
      // store does.
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
    findHolders: (callIds) => read.findHolders(context, callIds),
    queueState: (request) => read.queueState(context, request),
    laneUse: () => laneUse(context),
    ...createAuditSource(context),
    ...createApprovalStore(context),
    ...createGrantStore(context),
    ...sessions,
    ...createOutboundStore(context),
    readPolicy: () => policies.readPolicy(),
    readNewerPolicy: (request) => policies.readNewerPolicy(request),
    writePolicy: (request) => policies.writePolicy(request),
    ...createPinStore(context),
    ...createCatalogStore(context),
    ...fleet,
    ...createTokenStore(context, sessions),
    ...createOwedStore(context),
    async now() {
      const [seconds, microseconds] = asList(await context.command('TIME'));
      return asNumber(seconds) * 1000 + Math.floor(asNumber(microseconds) / 1000);
    },
    async checkIncarnation() {
      const found = await context.command('HGET', context.deployment.incarnation, 'id');
      if (found !== context.incarnation) {
        throw planeError('STORE_REPLACED', {
          expected: `incarnation ${context.incarnation}`,
          found: found === null ? 'none' : `incarnation ${asText(found)}`,
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
