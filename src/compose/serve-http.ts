import { fileURLToPath } from 'node:url';
import { DEFAULT_HTTP_PORT } from '../config/gateway-schema.ts';
import type { Config } from '../config/config-schema.ts';
import { createApi } from '../gateway/api/create-api.ts';
import { createAgentSessions } from '../gateway/agent-sessions.ts';
import type { GatewayPlane } from '../gateway/gateway-plane.ts';
import { createLoginLink } from '../gateway/login-link.ts';
import { serveGateway, type ServeOptions } from '../gateway/serve-gateway.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { Client } from '../client/client.ts';
import { createMcpEndpoint } from '../gateway/mcp/endpoint.ts';
import type { Log } from '../domain/ports/log.ts';
import type { GatewayStore, OperatorStore } from '../domain/ports/store.ts';
import { auditOptionsOf } from '../operate/audit-options.ts';
import { createOperations } from '../operate/gateway-operations.ts';
import { forgetGatewayUrl, writeGatewayUrl } from '../operate/gateway-url.ts';
import { hasCalls } from '../operate/has-calls.ts';
import { RELEASE } from '../base/release.ts';
import type { RunningHttp } from './running-http.ts';
import { systemUser } from '../base/system-user.ts';

export interface HttpOptions {
  readonly gatewayId: string;
  readonly config: Config;
  readonly store: GatewayStore & OperatorStore;
  /** A client of the same store. */
  readonly client: Client;
  readonly trail: AuditTrail;
  readonly log: Log;
  readonly readiness: ServeOptions['readiness'];
  /** Returns the metrics in the text format of Prometheus. Absent: metrics are off. */
  readonly metricsText?: ServeOptions['metricsText'];
  /** Use another port if the default port is taken. Without effect if a port is configured. */
  readonly anyPort?: boolean;
}

/** The console's own build writes this folder, next to the compiled sources. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../console', import.meta.url));
/** Max further ports to try. So many planes on one machine are rare, and people do not expect a port far from the default. */
const MORE_PORTS = 50;

/** Starts everything that the gateway serves over HTTP. `close` closes what was made here; the caller closes the store and the client. */
export async function serveHttp(options: HttpOptions): Promise<RunningHttp> {
  const { gatewayId, config, store, client, trail, log, readiness, metricsText, anyPort = false } = options;
  const sessions = createAgentSessions(client, {
    tokens: store,
    hasCalls: (session, run) => hasCalls(store, session, run),
  });
  const operations = createOperations({ store, trail, config, log, audit: auditOptionsOf(config) });
  const plane: GatewayPlane = { gatewayId, config, store, client, trail, sessions, log, operations };
  const api = createApi(plane);
  const { port } = config.gateway.http;
  const served = await serveGateway({
    plane,
    api: api.app,
    openapi: () => api.document,
    mcp: createMcpEndpoint({ ...plane, release: RELEASE }),
    readiness,
    metricsText,
    consoleFolder: CONSOLE_FOLDER,
    port: port ?? DEFAULT_HTTP_PORT,
    morePorts: port === undefined && anyPort ? MORE_PORTS : 0,
  });
  const { url } = served;
  writeGatewayUrl(config, url);
  return {
    url,
    loginLink: () => createLoginLink(store, url, { by: `process ${gatewayId}`, via: 'cli' }, { name: systemUser() }),
    async close() {
      forgetGatewayUrl(config, url);
      api.close();
      await served.close();
      await sessions.closeAll();
    },
  };
}
