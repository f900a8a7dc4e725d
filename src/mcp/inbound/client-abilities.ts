import type { McpPeer } from './mcp-home.ts';

/** Whether its person can be shown a form. */
export function canShowForms(peer: McpPeer): boolean {
  const elicitation = peer.capabilities()?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
