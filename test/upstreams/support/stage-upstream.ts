import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callIdFor } from '../../../src/domain/identity/new-id.ts';
import type { RunId, SessionId } from '../../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { Log } from '../../../src/domain/ports/log.ts';
import type { PinReader, OfferReports, SeenOffer } from '../../../src/domain/ports/pin-store.ts';
import { NO_PINS, type PinsRecord } from '../../../src/domain/upstream/pin.ts';
import type { Progress, RunEnding, RunRequest } from '../../../src/domain/ports/tool-runner.ts';
import { DEFAULT_UPSTREAM_LIMITS, type Upstream, type UpstreamLimits } from '../../../src/domain/upstream/upstream.ts';
import { randomId } from '../../../src/domain/identity/new-id.ts';
import { Upstreams } from '../../../src/upstreams/upstreams.ts';
import { temporaryFolder } from '../../support/process.ts';

const HOSTILE = fileURLToPath(new URL('../../fixtures/upstreams/hostile.mjs', import.meta.url));

export interface StagedUpstream {
  readonly upstreams: Upstreams;
  readonly log: string[];
  readonly pins: { record: PinsRecord };
  readonly seen: Map<string, SeenOffer>;
  /** What the server noted, line by line. */
  notes(): string[];
  call(args?: JsonObject, more?: Partial<RunRequest> & { readonly name?: string }): Promise<RunEnding>;
  /** Why the tool is refused before it is run. */
  refusal(name?: string): string | undefined;
  toolNames(): string[];
  close(): Promise<void>;
}

export interface StageOptions {
  readonly limits?: Partial<UpstreamLimits>;
  readonly more?: Partial<Upstream>;
  readonly env?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A worker's upstreams with one server that plays a trick, without the rest of the plane. */
export async function stageUpstream(trick: string, options: StageOptions = {}): Promise<StagedUpstream> {
  const folder = temporaryFolder('sallyport-upstream');
  const notesFile = join(folder.path, 'notes');
  const log: string[] = [];
  const pins = { record: NO_PINS };
  const seen = new Map<string, SeenOffer>();
  const store: PinReader & OfferReports = {
    readPins: async () => pins.record,
    readNewerPins: async ({ after }) => (pins.record.version > after ? pins.record : undefined),
    readOffer: async ({ upstream }) => seen.get(upstream),
    reportOffer: async ({ upstream, seen: offer }) => void seen.set(upstream, offer),
  };
  const upstream: Upstream = {
    id: 'hostile',
    address: {
      kind: 'stdio',
      command: process.execPath,
      args: [HOSTILE, trick, notesFile],
      env: options.env ?? {},
    },
    sharedBy: 'subject',
    limits: { ...DEFAULT_UPSTREAM_LIMITS, startMs: 30_000, ...options.limits },
    asks: {},
    tools: {},
    ...options.more,
  };
  const upstreams = new Upstreams([upstream], {
    store: async () => store,
    secrets: {
      knows: (name) => Object.hasOwn(options.secrets ?? {}, name),
      read: async (name) => {
        const value = options.secrets?.[name];
        return value === undefined ? { kind: 'problem', problem: 'there is none' } : { kind: 'read', value };
      },
    },
    log: collect(log),
    folder: join(folder.path, 'homes'),
    pool: 'default',
    guard: (runner) => runner,
  });
  await upstreams.start();
  const moduleOf = () => upstreams.modules()[0];
  const declarationOf = (name: string) => {
    const found = moduleOf()?.declaration.tools.find(({ id }) => id === `hostile.${name}`);
    if (found === undefined) throw new Error(`there is no tool ${name}`);
    return found;
  };
  return {
    upstreams,
    log,
    pins,
    seen,
    notes: () => readLines(notesFile),
    call: async (args = {}, { name = 'act', ...more } = {}) =>
      moduleOf()!.builtIn!.run({ ...requestOf(declarationOf(name), args), ...more }),
    refusal: (name = 'act') => moduleOf()!.refusalOf!(declarationOf(name).id)?.error?.code,
    toolNames: () => (moduleOf()?.declaration.tools ?? []).map(({ id }) => id.slice('hostile.'.length)),
    async close() {
      await upstreams.close();
      folder.remove();
    },
  };
}

function requestOf(tool: RunRequest['tool'], args: JsonObject): RunRequest & { readonly progress: Progress[] } {
  const session = '0.abcdefghijkl.abcdefghijklmnopqrstuv' as SessionId;
  const progress: Progress[] = [];
  return {
    tool,
    source: { file: '', generation: '', module: 'hostile', tool: tool.id },
    callId: callIdFor(session, randomId())!,
    fence: 1,
    identity: { tenant: 'default', subject: 'ada', agent: 'main' },
    session,
    run: 'run' as RunId,
    arguments: args,
    untrusted: {},
    setup: {},
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    onProgress: (one) => void progress.push(one),
    onLog: () => undefined,
    onNestedCall: () => Promise.reject(new Error('no nested calls here')),
    progress,
  };
}

function collect(lines: string[]): Log {
  const write =
    (level: string) =>
    (facts: object, message: string): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(facts)}`);
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
