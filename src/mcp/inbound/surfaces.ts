import {
  ResourceNotFoundError,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import { createSurfaces, type CompletionRequest, type Surfaces } from '../../client/surfaces.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { Answered } from './call-scene.ts';
import { CallUnderWay } from './call-under-way.ts';
import { readWish, type CallWish } from './call-wish.ts';
import { hearEvents } from './hear-events.ts';
import { RPC } from './json-rpc.ts';
import { linkAbort } from './link-abort.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import { pursueCall } from './pursue-call.ts';
import { showBlock, showResource } from './show-outcome.ts';
import { showPending } from './show-pending.ts';
import { inputKindsOf } from './tool-input.ts';

/** Carries what the client has to do first past those who wait for an answer. */
class Detour extends Error {
  readonly reply: Result | InputRequiredResult;
  constructor(reply: Result | InputRequiredResult) {
    super('the client is asked first');
    this.reply = reply;
  }
}

interface SurfaceRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly wish: CallWish;
}

/** Whatever is read or rendered is a call, and is pursued like that of a tool. */
async function useSurfaces(
  home: McpHome,
  peer: McpPeer,
  ctx: ServerContext,
  { method, params, wish }: SurfaceRequest,
  use: (surfaces: Surfaces, session: SessionHandle) => Promise<Result>,
): Promise<Result> {
  const { client, config } = home.plane;
  const { waitMs } = config.gateway.mcp;
  const own = await home.handleOf(peer, wish.run);
  const { signal, unlink } = linkAbort(ctx.mcpReq.signal, home);
  const surfaces = createSurfaces({
    toolkit: (session) => client.toolkit(session),
    async call(session, tool, args) {
      const begin = (answered?: Answered): CallUnderWay =>
        CallUnderWay.made(client, session, (hear) =>
          client.call(session, tool, args, {
            waitMs,
            signal,
            via: 'mcp',
            input: { kinds: inputKindsOf(peer), ...answered },
            onEvent: hearEvents(wish, ctx, hear),
          }),
        );
      const owner = { bearer: peer.bearer, method, params };
      const pursued = await pursueCall({
        home,
        peer,
        session: own,
        ctx,
        signal,
        owner,
        comesBack: () => false,
        owedDigest: () => undefined,
        resumed: async () => undefined,
        pending: (at) => showPending({ ...at, wayBack: 'id' }),
        begin,
      });
      if (pursued.kind === 'reply') throw new Detour(pursued.reply);
      return pursued;
    },
  });
  try {
    return await use(surfaces, own);
  } catch (error) {
    if (!(error instanceof Detour)) throw error;
    if (error.reply['resultType'] === 'input_required') return error.reply;
    throw new ProtocolError(RPC.internalError, 'It is not there yet: try again later.', { ...error.reply._meta });
  } finally {
    unlink();
  }
}

export function readResource(
  home: McpHome,
  peer: McpPeer,
  ctx: ServerContext,
  { uri, _meta }: { readonly uri: string; readonly _meta?: unknown },
): Promise<Result> {
  const request = { method: 'resources/read', params: { uri }, wish: readWish(_meta) };
  return useSurfaces(home, peer, ctx, request, async (surfaces, session) => {
    const answer = await surfaces.readResource(session, uri);
    if (answer.kind !== 'read') throw problemOf(answer, uri);
    return { contents: answer.contents.map(showResource), ttlMs: 0, cacheScope: 'private' };
  });
}

export function getPrompt(
  home: McpHome,
  peer: McpPeer,
  ctx: ServerContext,
  params: { readonly name: string; readonly arguments?: Record<string, string> | undefined; readonly _meta?: unknown },
): Promise<Result> {
  const args: JsonObject = { ...params.arguments };
  const name = home.fullName(params.name);
  const request = {
    method: 'prompts/get',
    params: { name: params.name, arguments: args },
    wish: readWish(params._meta),
  };
  return useSurfaces(home, peer, ctx, request, async (surfaces, session) => {
    const answer = await surfaces.getPrompt(session, name, args);
    if (answer.kind !== 'rendered') throw problemOf(answer);
    const { description, messages } = answer;
    return {
      ...(description === undefined ? {} : { description }),
      messages: messages.map(({ role, content }, at) => ({
        role,
        content: showBlock(content, `sallyport://calls/${answer.callId}/messages/${at}`),
      })),
    };
  });
}

export function complete(home: McpHome, peer: McpPeer, ctx: ServerContext, asked: CompletionRequest): Promise<Result> {
  const request = { method: 'completion/complete', params: {}, wish: {} };
  return useSurfaces(home, peer, ctx, request, async (surfaces, session) => {
    const answer = await surfaces.complete(session, asked);
    if (answer.kind !== 'completed') throw problemOf(answer);
    const { values, hasMore, total } = answer;
    return { completion: { values, hasMore, ...(total === undefined ? {} : { total }) } };
  });
}

/** What was not read has no result to stand in: the client is told as an error, with our code. */
function problemOf(answer: CallAnswer, uri?: string): Error {
  if (answer.kind === 'pending') return new ProtocolError(RPC.internalError, 'It is not there yet: try again later.');
  const { kind, error } = answer.outcome;
  if (uri !== undefined && error?.code === 'RESOURCE_UNKNOWN') return new ResourceNotFoundError(uri);
  const isClients = kind === 'invalid' || kind === 'unknown-tool';
  const code = isClients ? RPC.invalidParams : RPC.internalError;
  return new ProtocolError(code, error?.message ?? 'It could not be read.', { code: error?.code ?? kind });
}
