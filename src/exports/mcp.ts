// `sallyport/mcp`: the MCP endpoint for a server of your own. `sallyport gateway` and `sallyport dev` serve it at /mcp.
export { createMcpEndpoint, type McpEndpoint } from '../mcp/inbound/endpoint.ts';
export type { McpBearer, McpPlane } from '../mcp/inbound/mcp-plane.ts';
export { serveMcpOnStdio, type StdioEndpoint } from '../mcp/inbound/stdio.ts';
