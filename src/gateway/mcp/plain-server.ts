import { Server, type JSONRPCRequest, type Result, type ServerContext } from '@modelcontextprotocol/server';

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** The SDK adds `content` to every tool result. A task must not have one, so it is sent unchanged. */
export class PlainServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    if (method !== 'tools/call') return super._wrapHandler(method, handler);
    return async (request, ctx) => {
      let task: Result | undefined;
      const checked = super._wrapHandler(method, async (inner, innerCtx) => {
        const result = await handler(inner, innerCtx);
        if (result['resultType'] !== 'task') return result;
        task = result;
        return { content: [] };
      });
      const result = await checked(request, ctx);
      return task ?? result;
    };
  }
}
