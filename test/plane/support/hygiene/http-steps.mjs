// What clients of the gateway do, and above all how they leave: in the middle of an answer, of a stream, of a session.
import { setTimeout as pause } from 'node:timers/promises';

const REVISION = '2025-11-25';

/** Steps with their weights. `desk` and `agents` are bearer tokens: an operator's, and those of agents. */
export function createHttpSteps({ url, desk, agents }) {
  const agentOf = (number) => agents[number % agents.length];

  function request(path, token, { json, headers, ...init } = {}) {
    return fetch(`${url}${path}`, {
      ...init,
      ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
  }

  const body = (tool, args) => ({ tool, arguments: args, waitMs: 10_000 });

  async function rest({ number }) {
    const answer = await request('/v1/calls', agentOf(number), { json: body('near.echo', { text: 'over http' }) });
    await answer.text();
    return `http ${answer.status}`;
  }

  /** The client leaves before the answer arrives; the call goes on. */
  async function hangUp({ number }) {
    const json = body('near.wait', { ms: 600 });
    await request('/v1/calls', agentOf(number), { json, signal: AbortSignal.timeout(80) }).catch(() => undefined);
    return 'hung up';
  }

  async function lists() {
    const pages = ['/v1/calls?limit=20', '/v1/approvals?state=pending', '/v1/statistics?windowMs=60000', '/v1/workers'];
    const answers = await Promise.all(pages.map(async (path) => (await request(path, desk)).text()));
    return `${answers.length} lists`;
  }

  async function stream() {
    const abort = new AbortController();
    const answer = await request('/v1/events?topics=calls,approvals,workers', desk, { signal: abort.signal });
    const reader = answer.body.getReader();
    await Promise.race([reader.read(), pause(300)]).catch(() => undefined);
    abort.abort();
    await reader.closed.catch(() => undefined);
    return `events ${answer.status}`;
  }

  async function mcp(token, message, { headers, signal } = {}) {
    const accept = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': REVISION, ...headers };
    return request('/mcp', token, {
      json: { jsonrpc: '2.0', ...message },
      headers: accept,
      ...(signal ? { signal } : {}),
    });
  }

  async function mcpSession(token) {
    const params = { protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'soak', version: '1' } };
    const answer = await mcp(token, { id: 1, method: 'initialize', params });
    await answer.text();
    const session = answer.headers.get('mcp-session-id');
    const headers = session === null ? {} : { 'mcp-session-id': session };
    await (await mcp(token, { method: 'notifications/initialized' }, { headers })).text();
    return headers;
  }

  /** Every second session is ended properly; the others are left to their idle timeout. */
  async function mcpCalls({ number }) {
    const token = agentOf(number);
    const headers = await mcpSession(token);
    await (await mcp(token, { id: 2, method: 'tools/list', params: {} }, { headers })).text();
    const params = { name: 'near__echo', arguments: { text: 'over mcp' } };
    const answer = await mcp(token, { id: 3, method: 'tools/call', params }, { headers });
    await answer.text();
    if (number % 2 === 0)
      await (
        await request('/mcp', token, { method: 'DELETE', headers: { ...headers, 'mcp-protocol-version': REVISION } })
      ).text();
    return `mcp ${answer.status}`;
  }

  async function mcpHangUp({ number }) {
    const token = agentOf(number);
    const headers = await mcpSession(token);
    const listening = new AbortController();
    const stream = request('/mcp', token, {
      method: 'GET',
      signal: listening.signal,
      headers: { ...headers, accept: 'text/event-stream', 'mcp-protocol-version': REVISION },
    }).catch(() => undefined);
    const params = { name: 'near__wait', arguments: { ms: 500 }, _meta: { progressToken: number } };
    const call = mcp(token, { id: 4, method: 'tools/call', params }, { headers, signal: AbortSignal.timeout(120) });
    await call.then((answer) => answer.text()).catch(() => undefined);
    listening.abort();
    await stream;
    return 'mcp hung up';
  }

  async function strangers() {
    const answers = await Promise.all(['/v1/calls', '/mcp', '/v1/events'].map((path) => request(path, 'spt_nobody')));
    await Promise.all(answers.map((answer) => answer.text()));
    return `http ${answers[0].status}`;
  }

  return [
    [5, rest],
    [2, hangUp],
    [1, lists],
    [2, stream],
    [2, mcpCalls],
    [2, mcpHangUp],
    [1, strangers],
  ];
}
