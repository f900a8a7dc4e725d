import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import type { SessionToolkit } from '../../client/session-toolkits.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { JsonRpcId } from './json-rpc.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import { createOwedCalls, type OwedCalls } from './owed-calls.ts';
import type { Exchange } from './owed-request.ts';
import { sealKeyOf } from './seal-key.ts';
import { createSeals, type Seals } from './sealed-state.ts';
import { createShownTools, type ShownTools } from './shown-tools.ts';

/** A name is looked up in what the bearer was shown so short a time ago. What it may call, the worker decides anew each time. */
const TOOLS_KNOWN_MS = 2000;
const MOST_KNOWN = 1000;

export type McpEra = '2025' | '2026';

/** One peer: the bearer, and where in a conversation it is. */
export interface McpCaller {
  readonly bearer: McpBearer;
  readonly era: McpEra;
  /** Its loops and budgets are counted together. */
  readonly runName?: string;
  /** 2025: URIs of resources whose changes the session hears of. */
  readonly subscriptions?: Set<string>;
  /** One of its requests, and what becomes of the response. Undefined where that cannot be seen. A cancelled request has no response. */
  exchange?(requestId: JsonRpcId, cancelled: AbortSignal): Exchange | undefined;
}

/** With what its client said that it can do. */
export interface McpPeer extends McpCaller {
  capabilities(): ClientCapabilities | undefined;
}

/** What all exchanges share. */
export interface McpHome {
  readonly plane: McpPlane;
  readonly release: string;
  readonly seals: Seals;
  readonly owed: OwedCalls;
  handleOf(caller: McpCaller, runName?: string): Promise<SessionHandle>;
  /** Makes a call in the run that the caller is in now: another one than before, if that has ended and may be replaced. */
  callIn(
    caller: McpCaller,
    runName: string | undefined,
    call: (session: SessionHandle) => Promise<CallAnswer>,
  ): Promise<CallAnswer>;
  /** As the store says now. */
  toolsOf(caller: McpCaller): Promise<ShownTools>;
  /** Of a moment ago, if it is known. */
  knownToolsOf(caller: McpCaller): Promise<ShownTools>;
  show(toolkit: SessionToolkit): ShownTools;
  /** What clients call a prompt: by its module and its name, unless that module is shown without. */
  shownName(module: string, name: string): string;
  fullName(shown: string): string;
  /** The exchanges under way are ended by us, not by their clients. */
  isStopping(): boolean;
  stop(): void;
}

export function createMcpHome(plane: McpPlane): McpHome {
  const { plainModule } = plane.config.gateway.mcp;
  const show = createShownTools(plainModule);
  let sealKey: Uint8Array | undefined;
  let stopping = false;
  const known = new Map<string, { readonly until: number; readonly tools: ShownTools }>();

  const handleOf: McpHome['handleOf'] = ({ bearer, runName }, named) =>
    plane.sessions.handleOf(bearer, named ?? runName);

  const toolsOf: McpHome['toolsOf'] = async (caller) => {
    const tools = show(await plane.client.toolkit(await handleOf(caller)));
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(keyOf(caller), { until: performance.now() + TOOLS_KNOWN_MS, tools });
    return tools;
  };

  return {
    plane,
    release: plane.release ?? 'unknown',
    owed: createOwedCalls(plane.store, plane.log),
    seals: createSeals(() => (sealKey ??= sealKeyOf(plane.config)), plane.store),
    show,
    shownName: (module, name) => (module === plainModule ? name : `${module}.${name}`),
    fullName: (shown) => (plainModule === undefined || shown.includes('.') ? shown : `${plainModule}.${shown}`),
    isStopping: () => stopping,
    stop: () => void (stopping = true),
    handleOf,
    async callIn(caller, named, call) {
      const runName = named ?? caller.runName;
      const { sessions } = plane;
      if (sessions.callIn !== undefined) return sessions.callIn(caller.bearer, runName, call);
      return call(await sessions.handleOf(caller.bearer, runName));
    },
    toolsOf,
    async knownToolsOf(caller) {
      const found = known.get(keyOf(caller));
      return found !== undefined && found.until > performance.now() ? found.tools : toolsOf(caller);
    },
  };
}

/** Offers of other tools belong to a run. */
function keyOf({ bearer, runName = '' }: McpCaller): string {
  return JSON.stringify([bearer.id, runName]);
}
