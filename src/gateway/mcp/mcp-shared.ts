import type { ClientCapabilities } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import type { SessionToolkit } from '../../client/session-toolkits.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import type { JsonRpcId } from './json-rpc.ts';
import type { McpBearer, McpPlane } from './mcp-plane.ts';
import { createOwedCalls, type OwedCalls } from './owed-calls.ts';
import type { Exchange } from './owed-request.ts';
import { sealKeyOf } from './seal-key.ts';
import { createSeals, type Seals } from './sealed-state.ts';
import { createShownTools, type ShownTools } from './shown-tools.ts';

/**
 * How long the gateway looks up tool names in the list of tools that it read before. An outdated list allows nothing: the worker decides
 * for each call whether the bearer may make it.
 */
const TOOLS_KNOWN_MS = 2000;
const MAX_KNOWN = 1000;

export type McpEra = '2025' | '2026';

/** One MCP caller: the bearer, the protocol revision that its client speaks, and the run of its calls. */
export interface McpCaller {
  readonly bearer: McpBearer;
  readonly era: McpEra;
  /** The run of this caller's calls. Loops and budgets are counted per run. */
  readonly runName?: string;
  /** 2025: URIs of the resources that the session has subscribed to. */
  readonly subscriptions?: Set<string>;
  /**
   * Returns when a request of the caller arrived and what became of its response. Undefined if the transport cannot know that. `cancelled`
   * is aborted when the client cancels the request, which then gets no response.
   */
  exchange?(requestId: JsonRpcId, cancelled: AbortSignal): Exchange | undefined;
}

/** A caller together with the capabilities that its client declared. */
export interface McpPeer extends McpCaller {
  capabilities(): ClientCapabilities | undefined;
}

/** What all exchanges of one endpoint share. */
export interface McpShared {
  readonly plane: McpPlane;
  readonly release: string;
  readonly seals: Seals;
  readonly owed: OwedCalls;
  handleOf(caller: McpCaller, runName?: string): Promise<SessionHandle>;
  /** Makes a call in the caller's current run. If that run has ended and may be replaced, the call is made in a new one. */
  callIn(
    caller: McpCaller,
    runName: string | undefined,
    call: (session: SessionHandle) => Promise<CallAnswer>,
  ): Promise<CallAnswer>;
  /** Reads the caller's tools from the store. */
  toolsOf(caller: McpCaller): Promise<ShownTools>;
  /** Returns the tools that were read a moment ago (`TOOLS_KNOWN_MS`), if there are any; otherwise reads them from the store. */
  knownToolsOf(caller: McpCaller): Promise<ShownTools>;
  show(toolkit: SessionToolkit): ShownTools;
  /** The name of a prompt as clients see it: `module.name`, or only the name for the one module that is shown without its prefix. */
  shownName(module: string, name: string): string;
  fullName(shown: string): string;
  /** True after `stop()`. From then on, an exchange that ends was ended by this side, not cancelled by its client. */
  isStopping(): boolean;
  stop(): void;
}

export function createMcpShared(plane: McpPlane): McpShared {
  const { plainModule } = plane.config.gateway.mcp;
  const show = createShownTools(plainModule);
  let sealKey: Uint8Array | undefined;
  let stopping = false;
  const known = new Map<string, { readonly until: number; readonly tools: ShownTools }>();

  const handleOf: McpShared['handleOf'] = ({ bearer, runName }, named) =>
    plane.sessions.handleOf(bearer, named ?? runName);

  const toolsOf: McpShared['toolsOf'] = async (caller) => {
    const tools = show(await plane.client.toolkit(await handleOf(caller)));
    if (known.size >= MAX_KNOWN) known.clear();
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

/** The run is part of the key: the tools that were injected into a run are offered only in that run. */
function keyOf({ bearer, runName = '' }: McpCaller): string {
  return JSON.stringify([bearer.id, runName]);
}
