import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN_SCOPES, type TokenScope } from '../../src/domain/identity/gateway-token.ts';
import { openApiDocument } from '../../src/gateway/api/create-api.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';

interface Operation {
  readonly 'x-scopes': readonly TokenScope[];
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
  readonly parameters?: readonly { name: string; in: string }[];
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, object> };
}

const document = openApiDocument('test') as unknown as Document;
const ROUTES = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method,
    path,
    operation,
  })),
);

/** The scopes of each route. A route that is missing here, or that has other scopes, was not decided on, and the test fails. */
const SCOPES: Record<string, string> = {
  'GET /me': 'agent operator approver sessions admin',
  'POST /calls': 'agent',
  'GET /calls': 'operator',
  'GET /calls/{id}': 'agent operator',
  'GET /calls/{id}/wait': 'agent operator',
  'POST /calls/{id}/cancel': 'agent operator',
  'POST /calls/{id}/resolve': 'operator',
  'POST /catalog/withdraw': 'admin',
  'GET /calls/{id}/files/{index}': 'agent operator',
  'GET /approvals': 'operator approver',
  'GET /approvals/{id}': 'operator approver',
  'POST /approvals/{id}/decide': 'approver',
  'POST /approvals/{id}/reveal': 'approver',
  'GET /grants': 'operator approver',
  'DELETE /grants/{id}': 'approver',
  'GET /agents': 'operator',
  'GET /agents/{name}': 'operator',
  'PUT /agents/{name}': 'admin',
  'DELETE /agents/{name}': 'admin',
  'GET /catalog': 'operator',
  'GET /toolkit': 'agent',
  'POST /sessions': 'sessions',
  'GET /sessions': 'operator',
  'GET /sessions/{id}': 'agent operator',
  'DELETE /sessions/{id}': 'operator',
  'POST /sessions/{id}/touch': 'agent operator',
  'POST /sessions/{id}/runs': 'agent operator',
  'DELETE /sessions/{id}/runs/{run}': 'agent operator',
  'GET /policy': 'operator',
  'PUT /policy': 'admin',
  'POST /pause': 'operator',
  'POST /explain': 'operator',
  'GET /matrix': 'operator',
  'GET /audit': 'operator',
  'GET /audit/verification': 'operator',
  'POST /audit/verification': 'operator',
  'GET /statistics': 'operator',
  'GET /loops': 'operator',
  'GET /workers': 'operator',
  'GET /queues': 'operator',
  'GET /tokens': 'admin',
  'POST /tokens': 'admin',
  'DELETE /tokens/{id}': 'admin',
  'GET /events': 'operator approver',
};

describe('the OpenAPI document', () => {
  it('names every route with the scopes that were decided on', () => {
    const found = ROUTES.map(({ name, operation }) => [name, operation['x-scopes'].join(' ')]);
    expect(Object.fromEntries(found)).toEqual(SCOPES);
  });

  it('is of version 3.1, and all its schemas compile as JSON Schema 2020-12', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Sallyport' } });
    for (const schema of Object.values(schemasOf())) expect(() => validatorOf(schema)).not.toThrow();
  });

  it('refers to nothing that is not there, and declares every part of its paths', () => {
    for (const [, id] of JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(document.components.schemas)).toContain(id);
    }
    for (const { path, operation, name } of ROUTES) {
      const inPath = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name);
      const parts = [...path.matchAll(/\{(\w+)\}/g)].map(([, part]) => part);
      const canSucceed = Object.keys(operation.responses).some((status) => status.startsWith('2'));
      expect({ name, parts, canSucceed }).toEqual({ name, parts: inPath, canSucceed: true });
    }
  });
});

function schemasOf(): Record<string, object> {
  const answers = ROUTES.flatMap(({ name, operation }) =>
    Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
      Object.values(content).map(({ schema }) => [`${name} ${status}`, schema]),
    ),
  );
  return { ...document.components.schemas, ...(Object.fromEntries(answers) as Record<string, object>) };
}

function validatorOf(schema: object) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  return ajv.compile({ ...schema, components: document.components });
}

describe('the routes', () => {
  let gateway: GatewayFixture;
  const tokens = {} as Record<TokenScope, MadeToken>;
  beforeAll(async () => {
    // The requests of the table below are sent without pauses, so the rate limit is raised.
    gateway = await startGatewayFixture({ config: { gateway: { http: { rate: { perSecond: 1000, burst: 1000 } } } } });
    for (const scope of TOKEN_SCOPES) tokens[scope] = await gateway.makeToken({ scopes: [scope] });
    const called = await gateway.request('/v1/calls', {
      method: 'POST',
      token: tokens.agent,
      json: { tool: 'basic.handOver', arguments: { bytes: 3 }, waitMs: 20_000 },
    });
    if (called.status !== 200) throw new Error(`the call was answered ${called.status}`);
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  const cases = ROUTES.flatMap(({ name, method, path, operation }) =>
    TOKEN_SCOPES.map((scope) => {
      const scopes = operation['x-scopes'];
      return {
        name,
        method,
        path,
        scope,
        isAllowed: scopes.includes(scope) || (scope === 'admin' && !isAgents(scopes)),
      };
    }),
  );
  function isAgents(scopes: readonly TokenScope[]): boolean {
    return scopes.every((scope) => scope === 'agent');
  }

  it.each(cases)('$name with the scope $scope: allowed $isAllowed', async ({ method, path, scope, isAllowed }) => {
    const ended = new AbortController();
    const topics = path === '/events' ? '?topics=approvals' : '';
    const answer = await gateway.request(`/v1${path.replaceAll(/\{\w+\}/g, 'nothing')}${topics}`, {
      method: method.toUpperCase(),
      token: tokens[scope],
      signal: ended.signal,
      ...(method === 'post' || method === 'put' ? { json: {} } : {}),
    });
    const problem = answer.status === 403 ? ((await answer.json()) as { code: string }) : undefined;
    ended.abort();
    expect(answer.status).toBeLessThan(500);
    expect(problem?.code).toBe(isAllowed ? undefined : 'SCOPE_MISSING');
  });

  it.each(ROUTES)('$name without a token is refused', async ({ method, path }) => {
    const answer = await gateway.request(`/v1${path.replaceAll(/\{\w+\}/g, 'nothing')}`, {
      method: method.toUpperCase(),
    });
    expect([401, 429]).toContain(answer.status);
  });

  const readable = ROUTES.filter(({ method, path }) => method === 'get' && !/[{]|events/.test(path));
  it.each(readable)('$name answers with what the document says', async ({ path, operation }) => {
    const scope = operation['x-scopes'].includes('operator') ? 'operator' : (operation['x-scopes'][0] as TokenScope);
    const answer = await gateway.request(`/v1${path}`, { token: tokens[scope] });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    const validate = validatorOf(operation.responses['200']!.content!['application/json']!.schema);
    validate(await answer.json());
    expect(validate.errors ?? []).toEqual([]);
  });

  it('a call in detail is what the document says', async () => {
    const list = (await (await gateway.request('/v1/calls', { token: tokens.operator })).json()) as {
      items: { callId: string }[];
    };
    const answer = await gateway.request(`/v1/calls/${list.items[0]!.callId}`, { token: tokens.operator });
    const detail = (await answer.json()) as object;
    const validate = validatorOf(document.components.schemas['CallDetail']!);
    validate(detail);
    expect(validate.errors ?? []).toEqual([]);
    expect(detail).toMatchObject({
      call: { tool: 'basic.handOver', state: 'settled', outcome: 'ok', arguments: '{"bytes":3}' },
      outcome: { writeBacks: { files: [{ index: 0, name: 'data.bin', bytes: 3 }] } },
      verdict: [{ by: 'permission', id: '*', decision: 'allow' }],
      files: [{ index: 0, name: 'data.bin', mediaType: 'application/octet-stream', bytes: 3 }],
    });
    const stages = (detail as { stages: { stage: string }[] }).stages.map(({ stage }) => stage);
    expect(stages).toEqual(['accept', 'admit', 'identify', 'gate', 'execute', 'settle']);
  });

  describe.each(['/v1/calls', '/v1/audit', '/v1/approvals', '/v1/sessions', '/v1/grants'])('%s', (path) => {
    it.each([
      ['R03', 'limit=-1'],
      ['R03', 'limit=0'],
      ['R03', 'limit=501'],
      ['R03', 'limit=1e2'],
      ['R03', 'limit=1e9'],
      ['R03', 'limit=NaN'],
      ['R03', 'limit=10;drop'],
      ['R03', 'limit=1&limit=2'],
      ['R03', 'limit=%2010'],
      ['R03', 'limit='],
      ['R04', 'cursor='],
      ['R04', 'cursor=bm90IGEgY3Vyc29y'],
      ['R04', 'cursor=%00'],
      ['R04', `cursor=${'a'.repeat(10_000)}`],
      ['R05', 'filter[__proto__]=x'],
      ['R05', '__proto__=x'],
      ['R05', `a${'[b]'.repeat(100)}=x`],
      ['R05', 'unknown=x'],
    ])('%s %s is refused, and the value is not repeated', async (_, query) => {
      const answer = await gateway.request(`${path}?${query}`, { token: tokens.operator });
      const problem = (await answer.json()) as { code: string; detail: string };
      expect({ status: answer.status, code: problem.code }).toEqual({ status: 400, code: 'PARAMETER_INVALID' });
      expect(problem.detail).not.toContain('drop');
      expect(problem.detail).not.toContain('aaaa');
    });
  });

  it('R04 a cursor is good for the list and the filters it was made for, and for nothing else', async () => {
    for (let number = 0; number < 3; number += 1) {
      const call = { tool: 'basic.echo', arguments: { text: String(number) }, waitMs: 20_000 };
      await gateway.request('/v1/calls', { method: 'POST', token: tokens.agent, json: call });
    }
    const read = (query: string) => gateway.request(`/v1/calls?${query}`, { token: tokens.operator });
    const { next } = (await (await read('limit=1&outcome=ok')).json()) as { next: string };
    expect(next).toMatch(/^[\w-]+$/);
    expect((await read(`limit=2&outcome=ok&cursor=${next}`)).status).toBe(200);
    expect((await read(`limit=1&cursor=${next}`)).status).toBe(400);
    expect((await read(`limit=1&outcome=failed&cursor=${next}`)).status).toBe(400);
    const changed = next.slice(0, -2) + (next.endsWith('A') ? 'BB' : 'AA');
    expect((await read(`limit=1&outcome=ok&cursor=${changed}`)).status).toBe(400);
    const elsewhere = await gateway.request(`/v1/audit?outcome=ok&cursor=${next}`, { token: tokens.operator });
    expect(elsewhere.status).toBe(400);
  });
});
