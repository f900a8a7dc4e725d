import { namesInTenant } from '../../domain/identity/agent.ts';
import { indexTools } from '../../domain/tool/catalog.ts';
import type { JsonObject } from '../../base/json.ts';
import type { PolicyRecord } from '../../domain/policy/policy.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import {
  explainRequestSchema,
  explanationSchema,
  MATRIX_CELLS,
  matrixPageSchema,
  matrixQuery,
  type MatrixCell,
  type MatrixPage,
  type MatrixQuery,
} from './explain-schema.ts';
import { PAGE_LIMITS } from './page-schema.ts';

const TAG = 'policy';
/** How many cells are computed before other requests get their turn. */
const AT_ONCE = 2000;
const MAX_SESSIONS = 1000;

export function addExplain(api: Api, { plane }: ApiNeeds): void {
  const { operations, store } = plane;

  addRoute(
    api,
    {
      method: 'post',
      path: '/explain',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Would this call be let through, by which rule, and what would have to change? Runs nothing',
      body: explainRequestSchema,
      answers: { 200: { description: 'The answer.', schema: explanationSchema } },
    },
    async (context, { body }) => {
      const { tenant = 'default', subject, agent, tool, arguments: args, unattended } = body;
      const identity = { tenant, subject, agent, ...(unattended === true ? { unattended } : {}) };
      const asked = { tool, identity, ...(args === undefined ? {} : { arguments: args as JsonObject }) };
      return context.json(await operations.explain(asked));
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/matrix',
      scopes: ['operator'],
      tag: TAG,
      summary: 'What every agent may call for one subject, by tool',
      query: matrixQuery,
      answers: { 200: { description: 'A row for each tool, a cell for each agent.', schema: matrixPageSchema } },
    },
    async (context, { query }) => context.json(await readMatrix(query)),
  );

  async function readMatrix(query: MatrixQuery): Promise<MatrixPage> {
    const { tenant = 'default', subject = 'local', limit = PAGE_LIMITS.usual, cursor } = query;
    const filters = { tenant, subject };
    // The cursor is the name of the last tool, so that no row is skipped or repeated when a tool is published or withdrawn between two
    // pages.
    const after = cursor === undefined ? undefined : String(readCursor('matrix', filters, cursor)[0]);
    const [catalog, record] = [await store.readCatalog(), await store.readPolicy()];
    const explain = operations.explainer(catalog, record, { onlyVerdict: true });
    const agents = await listAgents(record, tenant);
    const tools = [...indexTools(catalog).keys()].sort();
    const left = after === undefined ? tools : tools.filter((tool) => tool > after);
    const count = Math.min(limit, Math.max(1, Math.floor(MATRIX_CELLS / Math.max(1, agents.length))));
    const items: MatrixPage['items'] = [];
    let done = 0;
    for (const tool of left.slice(0, count)) {
      const cells: MatrixCell[] = [];
      for (const agent of agents) {
        const { verdict, decidedBy, checks } = explain({ tool, identity: { tenant, subject, agent } });
        cells.push({ verdict, decidedBy, found: checks.find(({ check }) => check === decidedBy)?.found ?? '' });
        if (++done % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      items.push({ tool, cells });
    }
    return {
      items,
      tenant,
      subject,
      policyVersion: record.version,
      agents,
      ...(cursor === undefined ? { tools } : {}),
      ...(left.length > count ? { next: writeCursor('matrix', filters, [items.at(-1)!.tool]) } : {}),
    };
  }

  /** The agents of a tenant. If none is declared for it, every name can be an agent, so the agents of recent sessions are listed. */
  async function listAgents({ policy }: PolicyRecord, tenant: string): Promise<string[]> {
    const declared = namesInTenant(policy, tenant);
    if (declared !== undefined) return declared;
    const sessions = await store.listSessions(MAX_SESSIONS);
    return [...new Set(sessions.map(({ identity }) => identity.agent))].sort();
  }
}
