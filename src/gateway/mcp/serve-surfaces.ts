import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { CompletionRequest } from '../../client/surfaces.ts';
import { listPrompts, listResources } from './list-surfaces.ts';
import type { McpCaller, McpShared, McpPeer } from './mcp-shared.ts';
import { addSubscription } from './subscriptions.ts';
import { complete, getPrompt, readResource } from './surfaces.ts';

export type Answering = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Serves resources, prompts and completions. The SDK checks the results against the revision that the client speaks. */
export function serveSurfaces(
  server: Server,
  shared: McpShared,
  caller: McpCaller,
  answer: Answering,
  peerOf: (ctx: ServerContext) => McpPeer,
): void {
  // The SDK types results as they are after parsing. The results sent here have the same shape.
  const serve = server.setRequestHandler.bind(server) as unknown as Serve;
  serve('resources/list', ({ params }: Listed) => answer(() => listResources(shared, caller, 'uri', params?.cursor)));
  serve('resources/templates/list', ({ params }: Listed) =>
    answer(() => listResources(shared, caller, 'uriTemplate', params?.cursor)),
  );
  serve('prompts/list', ({ params }: Listed) => answer(() => listPrompts(shared, caller, params?.cursor)));
  serve('resources/read', ({ params }: { params: { uri: string; _meta?: unknown } }, ctx) =>
    answer(() => readResource(shared, peerOf(ctx), ctx, params)),
  );
  const { subscriptions } = caller;
  if (subscriptions !== undefined) serveSubscriptions(serve, subscriptions);
  serve('prompts/get', ({ params }: { params: { name: string; arguments?: Record<string, string> } }, ctx) =>
    answer(() => getPrompt(shared, peerOf(ctx), ctx, params)),
  );
  serve('completion/complete', ({ params }: { params: AskedCompletion }, ctx) =>
    answer(() => complete(shared, peerOf(ctx), ctx, toCompletion(shared, params))),
  );
}

type Serve = (method: string, handler: (request: never, ctx: ServerContext) => Promise<unknown>) => void;

/**
 * 2025: subscriptions to resources. In an HTTP session, a change to the list of resources reports every subscribed URI as updated. On
 * stdio only the change of the list is reported. 2026 has `subscriptions/listen` instead.
 */
function serveSubscriptions(serve: Serve, subscriptions: Set<string>): void {
  serve('resources/subscribe', async ({ params }: { params: { uri: string } }) => {
    addSubscription(subscriptions, params.uri);
    return {};
  });
  serve('resources/unsubscribe', async ({ params }: { params: { uri: string } }) => {
    subscriptions.delete(params.uri);
    return {};
  });
}

interface Listed {
  readonly params?: { readonly cursor?: string };
}

interface AskedCompletion {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string };
  readonly argument: { readonly name: string; readonly value: string };
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> };
}

function toCompletion(shared: McpShared, { ref, argument, context }: AskedCompletion): CompletionRequest {
  const known = context?.arguments;
  return {
    of: ref.type === 'ref/prompt' ? { prompt: shared.fullName(ref.name) } : { uriTemplate: ref.uri },
    argument: argument.name,
    value: argument.value,
    ...(known === undefined ? {} : { known }),
  };
}
