import { serve } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { configSchema } from '../../src/config/config-schema.ts';
import type { Identity, SessionHandle } from '../../src/domain/session.ts';
import { createMcpEndpoint, type McpEndpoint } from '../../src/mcp/inbound/endpoint.ts';
import type { McpBearer, McpPlane } from '../../src/mcp/inbound/mcp-plane.ts';
import { stagePlane, type StagedPlane } from '../plane/support/stage-plane.ts';

export const MCP_MODULES = fileURLToPath(new URL('../fixtures/mcp-plane', import.meta.url));

export interface StagedMcp {
  readonly plane: StagedPlane;
  readonly url: string;
  readonly endpoint: McpEndpoint;
  /** A bearer of its own; what it is given is its token. */
  bearer(identity?: Partial<Identity>): string;
  stop(): Promise<void>;
}

/** The endpoint behind a real HTTP server, with a worker process. Authentication is the gateway's: here a token is a name. */
export async function stageMcp(
  settings: Partial<McpPlane['config']['gateway']['mcp']> = {},
  modules = MCP_MODULES,
): Promise<StagedMcp> {
  const plane = await stagePlane('embedded');
  await plane.startWorker({ modules });
  const bearers = new Map<string, McpBearer>();
  const config = configSchema.parse({ folder: plane.folder, gateway: { mcp: settings } });
  const handles = new Map<string, Promise<SessionHandle>>();
  const endpoint = createMcpEndpoint({
    config,
    client: plane.client,
    store: plane.store,
    sessions: {
      handleOf({ id, identity }, runName = '') {
        const key = `${id} ${runName}`;
        const found = handles.get(key) ?? plane.client.openSession({ ...identity!, agent: identity!.agent });
        handles.set(key, found);
        return found;
      },
    },
    log: { warn: () => undefined, debug: () => undefined },
  });
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      const bearer = bearers.get((request.headers.get('authorization') ?? '').replace('Bearer ', ''));
      return bearer === undefined ? new Response(null, { status: 401 }) : endpoint.fetch(request, bearer);
    },
  });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    plane,
    endpoint,
    url: `http://127.0.0.1:${port}/mcp`,
    bearer(identity = {}) {
      const id = `bearer${bearers.size}`;
      const full = { tenant: 'default', subject: 'alice', agent: 'main', ...identity };
      bearers.set(id, { id, identity: full, expiresAt: Date.now() + 3_600_000 });
      return id;
    },
    async stop() {
      await endpoint.close();
      await new Promise((resolve) => {
        server.close(resolve);
        (server as unknown as { closeAllConnections(): void }).closeAllConnections();
      });
      await plane.stop();
    },
  };
}
