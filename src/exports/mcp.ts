// `sallyport/mcp`: the MCP endpoint for a server of your own. `sallyport gateway` and `sallyport dev` serve it at /mcp.
export { createMcpEndpoint, type McpEndpoint } from '../gateway/mcp/endpoint.ts';
export type { McpBearer, McpPlane } from '../gateway/mcp/mcp-plane.ts';
export { serveMcpOnStdio, type StdioEndpoint } from '../gateway/mcp/stdio.ts';
