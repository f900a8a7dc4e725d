import { LiveFeed, type FeedSettings } from '../follow/live-feed.ts';
import { SettledHistory, type HistorySettings } from '../follow/settled-history.ts';
import type { GatewayPlane } from '../gateway-plane.ts';
import { addAgents } from './agents.ts';
import { newApi, type Api, type ApiNeeds } from './api-route.ts';
import { addApprovals } from './approvals.ts';
import { addAudit } from './audit.ts';
import { addCalls } from './calls.ts';
import { addCatalog } from './catalog.ts';
import { addEvents } from './events.ts';
import { addExplain } from './explain.ts';
import { addMe } from './me.ts';
import { describeApi } from './openapi-document.ts';
import { addPolicy } from './policy.ts';
import { createRequesters } from '../requesters.ts';
import { addSessions } from './sessions.ts';
import { addStatistics } from './statistics.ts';
import { addTokens } from './tokens.ts';
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

/** Only the OpenAPI document. Nothing of a plane is used before the first request, so no plane is needed. */
export function openApiDocument(release: string): object {
  return createApi({ operations: { release } } as GatewayPlane).document;
}
