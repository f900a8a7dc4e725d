import type { McpPeer } from './mcp-shared.ts';

/** Whether the client can show a form to its person. */
export function canShowForms(peer: McpPeer): boolean {
  const elicitation = peer.capabilities()?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
