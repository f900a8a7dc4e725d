import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { request2026, send, type Answer } from './wire.ts';

/** CVE-2026-25536: a server that was shared by clients gave one of them the answers to the other. The long form: `npm run soak:mcp`. */
const CALLS = Number(process.env['SALLYPORT_SOAK_CALLS'] ?? 100);
const AT_ONCE = 16;

let plane: DevPlane;
beforeAll(async () => {
  plane = await startDevPlane({ http: { rate: { perSecond: 1_000_000, burst: 1_000_000 } } });
});
afterAll(() => plane.stop());

interface Agent {
  readonly mark: string;
  readonly token: string;
  readonly session: string;
}

async function openAgent(subject: string): Promise<Agent> {
  const { text: token } = await plane.token({ subject, agent: `${subject}s-agent` });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: subject, version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const { headers } = await send(plane.url, token, { body });
  return { mark: `${subject}-${randomId()}`, token, session: headers.get('mcp-session-id')! };
}

/** Odd calls use the session of 2025-11-25; even ones are of 2026-07-28 and have no session. Both agents use the same ids. */
function call({ mark, token, session }: Agent, at: number): Promise<Answer> {
  const params = { name: 'desk__echo', arguments: { text: `${mark} ${at}` } };
  if (at % 2 === 0) return send(plane.url, token, request2026({ id: at, method: 'tools/call', params }));
  return send(plane.url, token, {
    headers: { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: at, method: 'tools/call', params }),
  });
}

async function callAll(agent: Agent, other: Agent): Promise<number> {
  let next = 0;
  let foreign = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < CALLS; at = next++) {
      const { status, body, headers } = await call(agent, at);
      const all = JSON.stringify([body, [...headers]]);
      if (all.includes(other.mark) || all.includes(other.session)) foreign += 1;
      expect([status, (body as { id?: unknown }).id]).toEqual([200, at]);
      expect(body.result?.['structuredContent']).toEqual({ text: `${agent.mark} ${at}` });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return foreign;
}

it(
  "two agents that use the same ids at the same time never get each other's answers",
  { timeout: 600_000 },
  async () => {
    const [ann, bob] = [await openAgent('ann'), await openAgent('bob')];
    const startedMs = performance.now();
    const foreign = await Promise.all([callAll(ann, bob), callAll(bob, ann)]);
    expect(foreign).toEqual([0, 0]);
    if (process.env['SALLYPORT_SOAK_CALLS'] !== undefined) {
      const tookS = (performance.now() - startedMs) / 1000;
      console.log(
        `${2 * CALLS} calls of two agents in ${tookS.toFixed(1)} s (${((2 * CALLS) / tookS).toFixed(0)}/s), 0 foreign`,
      );
    }
  },
);
