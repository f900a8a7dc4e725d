import { serve, type HttpBindings } from '@hono/node-server';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { configSchema } from '../../src/config/config-schema.ts';
import type { Identity, SessionHandle } from '../../src/domain/identity/session.ts';
import { whenSent } from '../../src/gateway/http/when-sent.ts';
import { createMcpEndpoint, type McpEndpoint } from '../../src/gateway/mcp/endpoint.ts';
import type { McpBearer, McpPlane } from '../../src/gateway/mcp/mcp-plane.ts';
import type { Sent } from '../../src/gateway/mcp/owed-request.ts';
import { stagePlane, type StagedPlane } from '../plane/support/stage-plane.ts';

export const MCP_MODULES = fileURLToPath(new URL('../fixtures/mcp-plane', import.meta.url));

export interface StagedMcp {
  readonly plane: StagedPlane;
  readonly url: string;
  readonly endpoint: McpEndpoint;
  /** Makes a new bearer and returns its token. */
  bearer(identity?: Partial<Identity>): string;
  stop(): Promise<void>;
}

/** Functions that the stage calls while it serves a request, so that a test can take part. */
export interface McpStops {
  /** Called before a request gets the session of its bearer. */
  beforeSession(): Promise<unknown>;
  /** Called with how the answer was sent, which the endpoint learns too, as from the gateway. */
  onSent(how: Sent): void;
}

/** The endpoint behind a real HTTP server, with a worker process. The stage authenticates in place of the gateway: it looks tokens up. */
export async function stageMcp(
  settings: Partial<McpPlane['config']['gateway']['mcp']> = {},
  modules = MCP_MODULES,
  stops?: McpStops,
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
      async handleOf({ id, identity }, runName = '') {
        await stops?.beforeSession();
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
    fetch: (request, bindings) => {
      const bearer = bearers.get((request.headers.get('authorization') ?? '').replace('Bearer ', ''));
      if (bearer === undefined) return new Response(null, { status: 401 });
      if (stops === undefined) return endpoint.fetch(request, bearer);
      const { incoming, outgoing } = bindings as HttpBindings;
      const sent = new Promise<Sent>((resolve) => whenSent(incoming, outgoing, resolve));
      void sent.then((how) => stops.onSent(how));
      return endpoint.fetch(request, bearer, { sent, cameAt: performance.now() });
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
