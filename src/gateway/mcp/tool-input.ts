import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
} from '@modelcontextprotocol/server';
import { INPUT_KINDS, type InputKind, type InputRequest, type InputRequests } from '../../domain/call/input.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { McpCallContext } from './call-context.ts';
import type { McpPeer } from './mcp-shared.ts';

/** What a tool needs from its caller before it can go on. */
export interface WantedInput {
  readonly requests: InputRequests;
  readonly state?: string;
}

/** A question in MCP's format: 2026 puts it into a result, 2025 sends it as a request. */
type WireRequest = Parameters<typeof inputRequired>[0]['inputRequests'] extends (infer All) | undefined
  ? All[keyof All]
  : never;

export function wantedInput({ error }: Outcome): WantedInput | undefined {
  if (error?.code !== 'INPUT_REQUIRED') return undefined;
  const { requests, state } = error.facts ?? {};
  if (!isJsonObject(requests)) return undefined;
  return { requests: requests as unknown as InputRequests, ...(typeof state === 'string' ? { state } : {}) };
}

const CAPABILITIES: Readonly<Record<InputKind, ClientCapabilities>> = {
  elicit: { elicitation: { form: {} } },
  'elicit-url': { elicitation: { url: {} } },
  sample: { sampling: {} },
  roots: { roots: {} },
};

/** The protocol error of 2026 for a tool that needs a capability which the client did not declare. */
export function missingCapability({ error }: Outcome): Error | undefined {
  if (error?.code !== 'INPUT_UNAVAILABLE') return undefined;
  const kinds = (Array.isArray(error.facts?.['kinds']) ? error.facts['kinds'] : []) as InputKind[];
  const requiredCapabilities = Object.assign({}, ...kinds.map((kind) => CAPABILITIES[kind])) as ClientCapabilities;
  return new MissingRequiredClientCapabilityError({ requiredCapabilities }, error.message);
}

/** The kinds of input that the client declared it can be asked for. */
export function inputKindsOf(peer: McpPeer): InputKind[] {
  const declared: ClientCapabilities = peer.capabilities() ?? {};
  const { elicitation, sampling, roots } = declared;
  const can: Readonly<Record<InputKind, boolean>> = {
    elicit: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    'elicit-url': elicitation?.url !== undefined,
    sample: sampling !== undefined,
    roots: roots !== undefined,
  };
  return INPUT_KINDS.filter((kind) => can[kind]);
}

export function toWire(requests: InputRequests): Record<string, WireRequest> {
  return Object.fromEntries(Object.entries(requests).map(([name, request]) => [name, wireOf(request)]));
}

function wireOf(request: InputRequest): WireRequest {
  switch (request.kind) {
    case 'elicit':
      return inputRequired.elicit({ message: request.message, requestedSchema: request.schema as never });
    case 'elicit-url':
      return {
        method: 'elicitation/create',
        // Only 2025 needs the id; 2026 ignores it.
        params: { mode: 'url', message: request.message, url: request.url, elicitationId: request.id },
      } as WireRequest;
    case 'sample':
      return inputRequired.createMessage({
        messages: request.messages.map(({ role, text }) => ({ role, content: { type: 'text', text } })),
        maxTokens: request.maxTokens,
        ...(request.system === undefined ? {} : { systemPrompt: request.system }),
        ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
        ...(request.stopSequences === undefined ? {} : { stopSequences: [...request.stopSequences] }),
      });
    case 'roots':
      return inputRequired.listRoots();
  }
}

/** The client's answers to the requests that were sent. Everything else in `given` is ignored. */
export function answersTo(names: readonly string[], given: unknown): JsonObject {
  if (!isJsonObject(given)) return {};
  return Object.fromEntries(names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]!]));
}

/** 2025: sends all questions to the client at the same time and waits for the answers. Undefined if one of them was not answered. */
export async function askAtOnce(
  { ctx, signal }: McpCallContext,
  requests: InputRequests,
  timeout: number,
): Promise<JsonObject | undefined> {
  try {
    const asked = Object.entries(toWire(requests)).map(async ([name, request]) => {
      const answer: unknown = await ctx.mcpReq.send(request as never, { signal, timeout });
      return [name, answer as JsonObject] as const;
    });
    return Object.fromEntries(await Promise.all(asked));
  } catch {
    return undefined;
  }
}
