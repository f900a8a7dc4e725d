import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { answerRequest } from '../round-trip/variant.ts';

/** As the plane names its own tool towards MCP. */
export const TOOL = 'bench__read';

/** The tool of the plane's bench module, in a server of the official SDK. */
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
