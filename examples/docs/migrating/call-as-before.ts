import { connect, pendingText } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });
const message = { user_id: 'ada', guild_id: 'acme', channel_id: 'kitchen', platform: 'console' };

// #region session
const session = await client.openSession({
  subject: message.user_id,
  agent: 'main',
  space: message.guild_id,
  channel: message.channel_id,
  platform: message.platform,
});
// #endregion

// #region call
interface OldRequest {
  readonly tool_name: string;
  readonly arguments: Record<string, string>;
  readonly idem_key: string;
  readonly user_name: string;
}

const TOOL_IDS: Record<string, string> = { wiki_search: 'wiki.search', wiki_edit: 'wiki.edit' };

/** Where the inference worker called its remote registry before. */
async function callTool(request: OldRequest): Promise<string> {
  const id = TOOL_IDS[request.tool_name] ?? request.tool_name;
  const answer = await client.call(session, id, request.arguments, {
    key: request.idem_key,
    untrusted: { displayName: request.user_name },
  });
  if (answer.kind === 'pending') return pendingText(answer);
  const { kind, error, content } = answer.outcome;
  if (kind !== 'ok') return `${kind}: ${error?.message}`;
  return content.map((block) => (block.kind === 'text' ? block.text : `[${block.kind}]`)).join('\n');
}
// #endregion

const asked = { tool_name: 'wiki_search', user_name: 'Ada' };
console.log(await callTool({ ...asked, arguments: { query: 'milk' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'milk' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'bread' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'nothing' }, idem_key: 'm2' }));
await client.close();
