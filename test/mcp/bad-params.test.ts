import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDevPlane, type DevPlane } from './dev-plane.ts';
import { request2026, send, type Answer } from './wire.ts';

let plane: DevPlane;
let token: string;
let session: string;
beforeAll(async () => {
  plane = await startDevPlane();
  token = (await plane.token()).text;
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'old', version: '1' } };
  const begun = await send(plane.url, token, {
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  session = begun.headers.get('mcp-session-id')!;
});
afterAll(() => plane.stop());

const ask2026 = (method: string, params: Record<string, unknown>, meta = {}): Promise<Answer> =>
  send(plane.url, token, request2026({ method, params, meta }));
const ask2025 = (method: string, params: Record<string, unknown>): Promise<Answer> =>
  send(plane.url, token, {
    headers: { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

describe('parameters of another form are answered -32602, in one sentence that names the place', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['tools/list', { cursor: 5 }, 'cursor: '],
    ['resources/list', { cursor: {} }, 'cursor: '],
    ['completion/complete', {}, 'ref: '],
    ['prompts/get', { name: 7 }, 'name: '],
    ['resources/read', {}, 'uri: '],
    ['tools/call', { name: 'desk__echo', arguments: 'text' }, 'arguments: '],
  ])('%s %j', async (method, params, place) => {
    for (const answer of [await ask2025(method, params), await ask2026(method, params)]) {
      expect(answer.body.error).toMatchObject({ code: -32602 });
      const { message } = answer.body.error!;
      expect(message).toMatch(/^[^{}[\]\n]{1,220}\.$/);
      expect(message).toContain(`Invalid params: ${place}`);
    }
  });

  it('logging/setLevel with a level that is none', async () => {
    const { error } = (await ask2025('logging/setLevel', { level: 'loud' })).body;
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^Invalid params: level: .*\.$/) });
  });
});

it('a call that is not known is answered -32602, with its code', async () => {
  const meta = { 'sallyport/callId': '0.aaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbb' };
  const { error } = (await ask2026('tools/call', { name: 'desk__echo', arguments: { text: 'x' } }, meta)).body;
  expect(error).toMatchObject({ code: -32602, data: { code: 'CALL_UNKNOWN' } });
});
