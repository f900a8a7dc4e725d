import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  type ClientCapabilities,
} from '@modelcontextprotocol/server';
import { INPUT_KINDS, type InputKind, type InputRequest, type InputRequests } from '../../domain/input.ts';
import { isJsonObject, type JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { CallScene } from './call-scene.ts';
import type { McpPeer } from './mcp-home.ts';

/** What a tool wants of its caller before it goes on. */
export interface WantedInput {
  readonly requests: InputRequests;
  readonly state?: string;
}

/** A question in the words of MCP, as it stands in a result of 2026 and is sent by 2025. */
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

/** The tool needs something that the client did not say it has: 2026 has an error of its own for that. */
export function missingCapability({ error }: Outcome): Error | undefined {
  if (error?.code !== 'INPUT_UNAVAILABLE') return undefined;
  const kinds = (Array.isArray(error.facts?.['kinds']) ? error.facts['kinds'] : []) as InputKind[];
  const requiredCapabilities = Object.assign({}, ...kinds.map((kind) => CAPABILITIES[kind])) as ClientCapabilities;
  return new MissingRequiredClientCapabilityError({ requiredCapabilities }, error.message);
}

/** What the client said that it can be asked for. */
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
        // The id is of 2025 only; 2026 has no need of it, and lets it pass.
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

/** Answers of a client, of those that were asked for: whatever else it sends is ignored. */
export function answersTo(names: readonly string[], given: unknown): JsonObject {
  if (!isJsonObject(given)) return {};
  return Object.fromEntries(names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]!]));
}

/** 2025: asks at once, all at the same time. Undefined when the client did not answer one of them. */
export async function askAtOnce(
  { ctx, signal }: CallScene,
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
