import { LiveFeed, type FeedSettings } from '../follow/live-feed.ts';
import { SettledHistory, type HistorySettings } from '../follow/settled-history.ts';
import type { GatewayPlane } from '../gateway-plane.ts';
import { createRequesters } from '../requesters.ts';
import { addAgents } from './agents.ts';
import { newApi, type Api, type ApiNeeds } from './api-route.ts';
import { addApprovals } from './approvals.ts';
import { addAudit } from './audit.ts';
import { addCalls } from './calls.ts';
import { addCatalog } from './catalog.ts';
import { addEvents } from './events.ts';
import { addExplain } from './explain.ts';
import { addPolicy } from './policy.ts';
import { addSessions } from './sessions.ts';
import { addStatistics } from './statistics.ts';
import { addMe, addTokens } from './tokens.ts';
import { addWorkers } from './workers.ts';

export interface GatewayApi {
  /** All routes below /v1; their paths do not have this prefix. */
  readonly app: Api;
  /** The OpenAPI 3.1 document, made from the same schemas. */
  readonly document: object;
  close(): void;
}

export interface ApiSettings {
  readonly feed?: FeedSettings;
  readonly history?: HistorySettings;
}

const RESOURCES: readonly ((api: Api, needs: ApiNeeds) => void)[] = [
  addMe,
  addCalls,
  addApprovals,
  addAgents,
  addCatalog,
  addSessions,
  addPolicy,
  addExplain,
  addAudit,
  addStatistics,
  addWorkers,
  addTokens,
  addEvents,
];

export function createApi(plane: GatewayPlane, settings: ApiSettings = {}): GatewayApi {
  const history = new SettledHistory(plane.trail, settings.history);
  const feed = new LiveFeed({ store: plane.store, history, log: plane.log }, settings.feed);
  const app = newApi();
  const isRequester = createRequesters(plane.store);
  for (const add of RESOURCES) add(app, { plane, history, feed, isRequester });
  return { app, document: describeApi(app, plane.operations.release), close: () => feed.close() };
}

/** Only the OpenAPI document. Nothing of a plane is used before the first request, so no plane is needed. @internal */
export function openApiDocument(release: string): object {
  return createApi({ operations: { release } } as GatewayPlane).document;
}

/** Builds the OpenAPI document from the routes, with the security schemes and general information. */
function describeApi(api: Api, release: string): object {
  api.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the gateway (spt_…), or the bearer of one session (sps_…).',
  });
  api.openAPIRegistry.registerComponent('securitySchemes', 'console', {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-sallyport',
    description:
      'The cookie of the console. What changes something also needs the header `Sallyport-Console: 1` and JSON as its content type.',
  });
  const { webhooks: _, ...document } = api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Sallyport',
      version: release,
      description:
        'Times are milliseconds since 1970, by the clock of the store. Whatever is no success is `application/problem+json`, with a code of docs/errors.md.',
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/v1' }],
  });
  return document;
}
