import { connect, pendingText, type SessionHandle } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });

// #region call
interface OldRequest {
  readonly identity: { readonly user_id: string; readonly guild_id: string; readonly channel_id: string };
  readonly trace_id: string;
  readonly tool_name: string;
  readonly arguments: Record<string, string>;
  readonly idem_key: string;
  readonly user_name: string;
}

const TOOL_IDS: Record<string, string> = { wiki_search: 'wiki.search', wiki_edit: 'wiki.edit' };
const sessions = new Map<string, Promise<SessionHandle>>();

/** Where the inference worker called its remote registry before. `identity` is what the platform proved, not what the model said. */
async function callTool({ identity, ...request }: OldRequest): Promise<string> {
  let opening = sessions.get(request.trace_id);
  if (opening === undefined) {
    const { user_id: subject, guild_id: space, channel_id: channel } = identity;
    opening = client.openSession({ subject, agent: 'main', space, channel, platform: 'console' });
    sessions.set(request.trace_id, opening);
  }
  const id = TOOL_IDS[request.tool_name] ?? request.tool_name;
  const answer = await client.call(await opening, id, request.arguments, {
    key: request.idem_key,
    untrusted: { displayName: request.user_name },
  });
  if (answer.kind === 'pending') return pendingText(answer);
  const { kind, error, content } = answer.outcome;
  if (kind !== 'ok') return `${kind}: ${error?.message}`;
  return content.map((block) => (block.kind === 'text' ? block.text : `[${block.kind}]`)).join('\n');
}
// #endregion

const identity = { user_id: 'ada', guild_id: 'acme', channel_id: 'kitchen' };
const asked = { identity, trace_id: 't1', user_name: 'Ada', tool_name: 'wiki_search' };
console.log(await callTool({ ...asked, arguments: { query: 'milk' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'milk' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'bread' }, idem_key: 'm1' }));
console.log(await callTool({ ...asked, arguments: { query: 'nothing' }, idem_key: 'm2' }));
await client.close();
