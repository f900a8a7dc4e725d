import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createMCPClient } from '@ai-sdk/mcp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stageMcp, type StagedMcp } from './stage-mcp.ts';

let staged: StagedMcp;
beforeAll(async () => {
  staged = await stageMcp();
});
afterAll(() => staged.stop());

const NAMES = ['desk__echo', 'desk__everything', 'desk__fails', 'desk__send', 'desk__steps', 'desk__wait'];
const headers = (): Record<string, string> => ({ authorization: `Bearer ${staged.bearer()}` });

describe.each([
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', undefined],
] as const)('the official client, %s', (_, versionNegotiation) => {
  it('lists the toolkit of its bearer and calls a tool', async () => {
    const client = new Client(
      { name: 'peer', version: '1' },
      versionNegotiation === undefined ? {} : { versionNegotiation },
    );
    await client.connect(
      new StreamableHTTPClientTransport(new URL(staged.url), { requestInit: { headers: headers() } }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(NAMES);
      const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
      expect(result.structuredContent).toEqual({ text: 'hello' });
    } finally {
      await client.close();
    }
  });
});

it('the first official client lists the toolkit of its bearer and calls a tool', async () => {
  const client = new OldClient({ name: 'peer', version: '1' });
  const transport = new OldTransport(new URL(staged.url), { requestInit: { headers: headers() } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    const result = await client.callTool({ name: 'desk__echo', arguments: { text: 'hello' } });
    expect(result.structuredContent).toEqual({ text: 'hello' });
  } finally {
    await client.close();
  }
});

it('the client of the AI SDK lists the toolkit of its bearer and calls a tool', async () => {
  const client = await createMCPClient({ transport: { type: 'http', url: staged.url, headers: headers() } });
  try {
    const tools = await client.tools();
    expect(Object.keys(tools).sort()).toEqual(NAMES);
    const options = { messages: [], toolCallId: 'one' };
    const result = await tools['desk__echo']!.execute!({ text: 'hello' }, options);
    expect(result).toMatchObject({ structuredContent: { text: 'hello' } });
  } finally {
    await client.close();
  }
});
