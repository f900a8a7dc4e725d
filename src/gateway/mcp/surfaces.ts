import {
  ResourceNotFoundError,
  type InputRequiredResult,
  type Result,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import { createSurfaces, type CompletionRequest, type Surfaces } from '../../client/surfaces.ts';
import type { JsonObject } from '../../base/json.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { callOnce } from './call-once.ts';
import { readCallMeta, type CallMeta } from './call-meta.ts';
import { RPC } from './json-rpc.ts';
import type { McpShared, McpPeer } from './mcp-shared.ts';
import type { EarlierCall } from './owed-calls.ts';
import { earlierMeta, showBlock, showResource } from './show-outcome.ts';

const NOT_YET = 'It is not there yet: try again later.';

/** Carries the reply that the client gets instead of an outcome. It is thrown, because the `call` of `createSurfaces` cannot return it. */
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
  readonly callMeta: CallMeta;
}

/**
 * Every read of a resource and every rendered prompt is a call. As with tools, a repeat gets the outcome that its client did not get
 * before.
 */
async function useSurfaces(
  shared: McpShared,
  peer: McpPeer,
  ctx: ServerContext,
  { method, params, callMeta }: SurfaceRequest,
  use: (surfaces: Surfaces, session: SessionHandle) => Promise<Result>,
): Promise<Result> {
  const { client } = shared.plane;
  const session = await shared.handleOf(peer, callMeta.run);
  let earlier: EarlierCall | undefined;
  const surfaces = createSurfaces({
    toolkit: (asking) => client.toolkit(asking),
    async call(_session, tool, args) {
      const answer = await callOnce({ shared, peer, session, ctx, method, params, tool, args, callMeta });
      if (answer.kind === 'reply') throw new Detour(answer.reply);
      ({ earlier } = answer);
      return answer;
    },
  });
  try {
    const result = await use(surfaces, session);
    return earlier === undefined ? result : { ...result, _meta: { ...result._meta, ...earlierMeta(earlier) } };
  } catch (error) {
    if (!(error instanceof Detour)) throw error;
    if (error.reply['resultType'] === 'input_required') return error.reply;
    throw new ProtocolError(RPC.internalError, notYet(callMeta), { ...error.reply._meta });
  }
}

/** With a key, the text does not promise that the same request is made only once: such a call is found by its key, not by its arguments. */
function notYet({ key }: CallMeta): string {
  return key === undefined ? `${NOT_YET} The same request is not made a second time.` : NOT_YET;
}

/** A call of a resource or prompt cannot be requested by its id: the answer to another call may not be a resource. */
function readMetaWithoutCallId(meta: unknown): CallMeta {
  const { callId: _unused, ...callMeta } = readCallMeta(meta);
  return callMeta;
}

export function readResource(
  shared: McpShared,
  peer: McpPeer,
  ctx: ServerContext,
  { uri, _meta }: { readonly uri: string; readonly _meta?: unknown },
): Promise<Result> {
  const request = { method: 'resources/read', params: { uri }, callMeta: readMetaWithoutCallId(_meta) };
  return useSurfaces(shared, peer, ctx, request, async (surfaces, session) => {
    const answer = await surfaces.readResource(session, uri);
    if (answer.kind !== 'read') throw problemOf(answer, uri);
    return { contents: answer.contents.map(showResource), ttlMs: 0, cacheScope: 'private' };
  });
}

export function getPrompt(
  shared: McpShared,
  peer: McpPeer,
  ctx: ServerContext,
  params: { readonly name: string; readonly arguments?: Record<string, string> | undefined; readonly _meta?: unknown },
): Promise<Result> {
  const args: JsonObject = { ...params.arguments };
  const name = shared.fullName(params.name);
  const request = {
    method: 'prompts/get',
    params: { name: params.name, arguments: args },
    callMeta: readMetaWithoutCallId(params._meta),
  };
  return useSurfaces(shared, peer, ctx, request, async (surfaces, session) => {
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

export function complete(
  shared: McpShared,
  peer: McpPeer,
  ctx: ServerContext,
  asked: CompletionRequest,
): Promise<Result> {
  // A random key makes each completion a new call. No client comes back for the outcome of an earlier completion: its text has changed by
  // then.
  const request = { method: 'completion/complete', params: {}, callMeta: { key: randomId() } };
  return useSurfaces(shared, peer, ctx, request, async (surfaces, session) => {
    const answer = await surfaces.complete(session, asked);
    if (answer.kind !== 'completed') throw problemOf(answer);
    const { values, hasMore, total } = answer;
    return { completion: { values, hasMore, ...(total === undefined ? {} : { total }) } };
  });
}

/** A failed read has no result that could report the failure, so the client gets a protocol error with Sallyport's code. */
function problemOf(answer: CallAnswer, uri?: string): Error {
  if (answer.kind === 'pending') return new ProtocolError(RPC.internalError, NOT_YET);
  const { kind, error } = answer.outcome;
  if (uri !== undefined && error?.code === 'RESOURCE_UNKNOWN') return new ResourceNotFoundError(uri);
  const isClients = kind === 'invalid' || kind === 'unknown-tool';
  const code = isClients ? RPC.invalidParams : RPC.internalError;
  return new ProtocolError(code, error?.message ?? 'It could not be read.', { code: error?.code ?? kind });
}
