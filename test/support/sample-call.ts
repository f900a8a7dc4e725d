import { EMPTY_CATALOG, type Catalog, type PublishedTool } from '../../src/domain/tool/catalog.ts';
import { ENVELOPE_VERSION } from '../../src/domain/call/call.ts';
import { toolId, type RunId, type WorkerId } from '../../src/domain/identity/ids.ts';
import type { Identity } from '../../src/domain/identity/session.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../src/domain/tool/tool.ts';
import type { Delivery, LaneState } from '../../src/domain/ports/call-requests.ts';
import type { Log } from '../../src/domain/ports/log.ts';
import type { DeliveredCall, ServedTool } from '../../src/domain/ports/plane.ts';
import type { AdmittedCall } from '../../src/domain/ports/staged-calls.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { encodeEnvelope } from '../../src/domain/call/envelope.ts';
import { callIdFor, newSessionId, randomId } from '../../src/domain/identity/new-id.ts';

/** Parts of a call for unit tests: all inputs of a stage, and nothing that has to run. */
export const SAMPLE_IDENTITY: Identity = { tenant: 'default', subject: 'alice', agent: 'main' };
export const SAMPLE_SESSION = newSessionId('default', 'alice', 1);
const SAMPLE_TOOL = toolId('notes', 'add');

export function sampleDeclaration(overrides: Partial<ToolDeclaration> = {}): ToolDeclaration {
  return {
    id: SAMPLE_TOOL,
    description: 'Adds a note.',
    inputSchema: { type: 'object' },
    effect: 'read',
    privileged: false,
    serial: false,
    limits: DEFAULT_LIMITS,
    digest: 'digest-of-add',
    ...overrides,
  };
}

export function sampleServedTool(overrides: Partial<ToolDeclaration> = {}): ServedTool {
  return {
    declaration: sampleDeclaration(overrides),
    runner: 'inline',
    source: { file: 'notes.js', generation: '1', module: 'notes', tool: 'add' },
    setup: {},
    denialPatterns: [],
    validateInput: () => [],
  };
}

export function samplePublished(overrides: Partial<ToolDeclaration> = {}): PublishedTool {
  const tool = sampleDeclaration(overrides);
  return {
    tool,
    module: { id: 'notes', description: 'Notes.', version: '1.0.0', pool: 'default', tools: [tool], digest: 'd' },
  };
}

export function sampleCatalog(sequence: number, ...tools: PublishedTool[]): Catalog {
  return { ...EMPTY_CATALOG, sequence, digest: `catalog-${sequence}`, modules: tools.map(({ module }) => module) };
}

export function sampleDelivery(overrides: Partial<Delivery> & { readonly toolDigest?: string } = {}): Delivery {
  const { toolDigest = 'digest-of-add', ...fields } = overrides;
  const tool = fields.tool ?? SAMPLE_TOOL;
  const run = 'run-1' as RunId;
  const envelope = encodeEnvelope({
    version: ENVELOPE_VERSION,
    session: SAMPLE_SESSION,
    run,
    tool,
    toolDigest,
    arguments: '{}',
    key: 'k',
    depth: 0,
  });
  return {
    callId: callIdFor(SAMPLE_SESSION, randomId())!,
    pool: 'default',
    workerId: 'worker-1' as WorkerId,
    entryId: '1-0',
    fence: 1,
    lane: 0,
    envelope,
    bodyDigest: bodyDigest(tool, '{}'),
    tool,
    identity: JSON.stringify(SAMPLE_IDENTITY),
    session: SAMPLE_SESSION,
    run,
    epoch: 'epoch-1',
    sessionExpiresAt: 1_000_000,
    acceptedAt: 0,
    deadline: 500_000,
    handedBack: 0,
    lostDeliveries: 0,
    runState: { sequence: 1, toolSequence: 1, startedAt: 0, cost: 0, loopEnds: [] },
    watched: true,
    eventsWanted: false,
    ...fields,
  };
}

export function sampleLane(overrides: Partial<LaneState> = {}): LaneState {
  return { epoch: 'epoch-1', policyVersion: 1, cancelSequence: '0', now: 1000, ...overrides };
}

/** A call in the state in which a worker has just read it. */
export function sampleDelivered(delivery: Delivery, overrides: Partial<DeliveredCall> = {}): DeliveredCall {
  return {
    delivery,
    lane: sampleLane(),
    arrivedAt: performance.now(),
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** A call after the admit stage, under an empty policy. */
export function sampleAdmitted(delivery: Delivery, overrides: Partial<AdmittedCall> = {}): AdmittedCall {
  const delivered = sampleDelivered(delivery);
  const policy: Policy = { roles: {}, permissions: {}, paused: {} };
  return {
    kind: 'admitted',
    ...delivered,
    policy,
    policyVersion: 1,
    now: 1000,
    checkedAt: delivered.arrivedAt,
    ...overrides,
  };
}

/** A store that has only the methods the test provides; a call of any other method fails the test. */
export function partialStore(methods: Partial<Store>): Store {
  return new Proxy(methods as Store, {
    get(target, name) {
      if (name in target || typeof name === 'symbol') return Reflect.get(target, name) as unknown;
      return () => {
        throw new Error(`the test did not expect ${name}`);
      };
    },
  });
}

export const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** A promise that the test settles. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

export function deferred<Value = void>(): Deferred<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Value>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
