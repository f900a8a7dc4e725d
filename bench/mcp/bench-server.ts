import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { answerRequest } from '../round-trip/variant.ts';

/** The name that the plane gives to its own tool over MCP. */
export const TOOL = 'bench__read';

/** A server of the official SDK with the same tool as the plane's bench module. */
export function makeServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.registerTool(
    TOOL,
    {
      description: 'Answers with the beginning of the text it got.',
      inputSchema: z.object({ id: z.number(), text: z.string() }),
    },
    (input) => {
      const reply = answerRequest(input);
      return { content: [{ type: 'text', text: JSON.stringify(reply) }], structuredContent: { ...reply } };
    },
  );
  return server;
}
