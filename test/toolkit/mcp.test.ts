import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { afterEach, describe, expect, it } from 'vitest';
import { toMcp } from '../../src/exports/toolkit.ts';
import { sampleToolkit } from '../support/sample-toolkit.ts';
import { backToTools, CALLS, callsByModel } from './model-call.ts';

type Answer = (name: string, args: unknown) => CallToolResult;
const open: { close(): Promise<void> }[] = [];

async function openPair(answer: Answer): Promise<Client> {
  const server = new Server({ name: 'tools', version: '1.0.0' }, { capabilities: { tools: {} } });
  const tools: Tool[] = toMcp(sampleToolkit());
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answer(params.name, params.arguments));
  const client = new Client({ name: 'agent', version: '1.0.0' });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
  open.push(client, server);
  return client;
}

describe('an MCP client', () => {
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  it('lists what the server was given', async () => {
    const client = await openPair(() => ({ content: [] }));
    expect((await client.listTools()).tools).toStrictEqual(toMcp(sampleToolkit()));
  });

  it('calls the tools by their names, which lead back', async () => {
    const ran: unknown[] = [];
    const client = await openPair((name, args) => {
      ran.push(...backToTools([{ name, args }]));
      return { content: [], structuredContent: { time: 'noon' } };
    });
    const { tools } = await client.listTools();
    const sent = tools.map(({ name, inputSchema }) => ({ name, schema: inputSchema }));
    for (const { name, args } of callsByModel(sent)) await client.callTool({ name, arguments: args });
    expect(ran).toStrictEqual(CALLS);
  });

  it('checks results against the output schema it was given', async () => {
    const client = await openPair(() => ({ content: [], structuredContent: { time: 12 } }));
    await client.listTools();
    await expect(client.callTool({ name: 'clock__now', arguments: {} })).rejects.toThrow(/output schema/);
    await expect(client.callTool({ name: '_7zip__list', arguments: { file: 'a' } })).resolves.toBeDefined();
  });
});
