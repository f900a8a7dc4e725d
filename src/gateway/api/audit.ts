import { AUDIT_LIMITS } from '../../domain/audit/audit-record.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { TrailPlace } from '../../domain/ports/audit-store.ts';
import { showRecord } from '../../domain/audit/show-record.ts';
import { addRoute, defined, type Api, type ApiNeeds } from './api-route.ts';
import {
  auditPageSchema,
  auditQuery,
  verificationSchema,
  type AuditRecordView,
  type AuditVerification,
} from './audit-schema.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { PAGE_LIMITS } from './page-schema.ts';

const TAG = 'audit';
/**
 * Max records that are searched for one page. If few of them match the filter, the page is short, but the search does not delay other
 * requests.
 */
const SCAN = 20_000;

export function addAudit(api: Api, { plane }: ApiNeeds): void {
  const verification = createVerification(plane);

  addRoute(
    api,
    {
      method: 'get',
      path: '/audit',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Records of the trail, the newest first; a page may be short and still have a next one',
      query: auditQuery,
      answers: { 200: { description: 'A page of them.', schema: auditPageSchema } },
    },
    async (context, { query }) => {
      const { limit = PAGE_LIMITS.usual, cursor, ...filters } = query;
      const before = cursor === undefined ? undefined : toPlace(readCursor('audit', filters, cursor));
      const page = await plane.trail.queryTrail({
        // Leaves out records from the future. A client whose Redis role may append records could write some, and they would hide the newest
        // genuine records on the first page.
        filter: { to: (await plane.store.now()) + AUDIT_LIMITS.aheadMs, ...defined(filters) },
        limit,
        scan: SCAN,
        ...(before === undefined ? {} : { before }),
      });
      if (page.strays !== undefined) {
        plane.log.warn(
          { strays: page.strays.length, first: page.strays[0] },
          'audit: the index of the trail was changed',
        );
      }
      const items = page.records.map((record) => showRecord(record) as AuditRecordView);
      if (page.next === undefined) return context.json({ items });
      const { at, store, lane, sequence } = page.next;
      return context.json({ items, next: writeCursor('audit', filters, [at, store, lane, sequence]) });
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/audit/verification',
      scopes: ['operator'],
      tag: TAG,
      summary: 'What the last check of the trail by this gateway found',
      answers: { 200: { description: 'How it stands.', schema: verificationSchema } },
    },
    (context) => context.json(verification.state),
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/audit/verification',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Recompute all chains and check all signatures; one check at a time',
      answers: { 202: { description: 'It has begun, or was under way.', schema: verificationSchema } },
    },
    async (context) => context.json(await verification.start(), 202),
  );
}

function toPlace(place: readonly (string | number)[]): TrailPlace {
  const [at, store, lane, sequence] = place as [number, string, number, number];
  if (place.length !== 4) throw planeError('PARAMETER_INVALID', { problems: ['query.cursor: is none'] });
  return { at, store, lane, sequence };
}

/** Runs at most one verification at a time for all clients, since it reads the whole trail. */
function createVerification({ operations, store, log }: ApiNeeds['plane']) {
  let state: AuditVerification = { state: 'never', checked: 0, problems: [] };

  async function run(): Promise<void> {
    try {
      const { checked, statements, notices, problems } = await operations.verifyAudit();
      const found = problems.length === 0 ? 'ok' : 'bad';
      state = { state: found, at: await store.now(), checked, ...defined({ statements, notices }), problems };
    } catch (error) {
      log.error({ error }, 'the audit could not be verified');
      const what = 'the trail or its keys could not be read; the log of the gateway says why';
      const at = await store.now().catch(() => state.at);
      state = { state: 'bad', ...defined({ at }), checked: 0, problems: [{ what }] };
    }
  }

  return {
    get state(): AuditVerification {
      return state;
    },
    async start(): Promise<AuditVerification> {
      if (state.state === 'running') return state;
      const before = state;
      state = { state: 'running', checked: 0, problems: [] };
      try {
        state = { ...state, at: await store.now() };
      } catch (error) {
        state = before;
        throw error;
      }
      void run();
      return { ...state };
    },
  };
}
