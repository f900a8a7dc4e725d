import { indexTools } from '../../domain/catalog.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { PolicyRecord } from '../../domain/policy.ts';
import { addRoute, type Api, type ApiNeeds } from './api-route.ts';
import {
  explainRequestSchema,
  explanationSchema,
  MATRIX_LIMITS,
  matrixQuery,
  matrixSchema,
  type MatrixCell,
  type MatrixView,
} from './explain-schema.ts';

const TAG = 'policy';
/** So many cells are worked out before others get their turn. */
const AT_ONCE = 2000;
const MOST_SESSIONS = 1000;

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
      const { tenant = 'default', subject, agent, tool, arguments: args } = body;
      const identity = { tenant, subject, agent };
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
      summary: 'What every agent may call for one subject',
      query: matrixQuery,
      answers: { 200: { description: 'A cell for each agent and tool.', schema: matrixSchema } },
    },
    async (context, { query: { tenant = 'default', subject = 'local' } }) => {
      const [catalog, record] = [await store.readCatalog(), await store.readPolicy()];
      const explain = operations.explainer(catalog, record, { onlyVerdict: true });
      const everyAgent = await listAgents(record);
      const everyTool = [...indexTools(catalog).keys()].sort();
      const agents = everyAgent.slice(0, MATRIX_LIMITS.agents);
      const tools = everyTool.slice(0, MATRIX_LIMITS.tools);
      const cells: Record<string, Record<string, MatrixCell>> = {};
      let count = 0;
      for (const agent of agents) {
        const row: Record<string, MatrixCell> = {};
        for (const tool of tools) {
          const { verdict, decidedBy, checks } = explain({ tool, identity: { tenant, subject, agent } });
          row[tool] = { verdict, decidedBy, found: checks.find(({ check }) => check === decidedBy)?.found ?? '' };
          if (++count % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        cells[agent] = row;
      }
      const isCut = everyAgent.length > agents.length || everyTool.length > tools.length;
      const matrix: MatrixView = {
        tenant,
        subject,
        policyVersion: record.version,
        agents,
        tools,
        cells,
        ...(isCut ? { cut: { agents: everyAgent.length, tools: everyTool.length } } : {}),
      };
      return context.json(matrix);
    },
  );

  /** Without declared agents every name is one: those of the last sessions are shown. */
  async function listAgents({ policy }: PolicyRecord): Promise<string[]> {
    if (policy.agents !== undefined) return Object.keys(policy.agents).sort();
    const sessions = await store.listSessions(MOST_SESSIONS);
    return [...new Set(sessions.map(({ identity }) => identity.agent))].sort();
  }
}
