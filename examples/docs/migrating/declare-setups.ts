import { connect, type AgentsInput } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });

interface OldSelection {
  readonly setup_id: string;
  readonly triggers: Record<string, boolean>;
}
interface OldReference {
  readonly selected_tools: readonly OldSelection[];
}

/** As the SDK stored it, without what it had resolved. */
const stored: { main: OldReference; members: Record<string, OldReference>; steps: Record<string, OldReference> } = {
  main: { selected_tools: [{ setup_id: 'wiki', triggers: { search: true, edit: false } }] },
  members: { writer: { selected_tools: [{ setup_id: 'wiki', triggers: { search: false, edit: true } }] } },
  steps: { review: { selected_tools: [{ setup_id: 'wiki', triggers: { search: false, edit: false } }] } },
};

// #region declare
const agents: AgentsInput = Object.fromEntries(
  Object.entries({ main: stored.main, ...stored.members, ...stored.steps }).map(([name, { selected_tools }]) => [
    name,
    selected_tools,
  ]),
);
const { declared, warnings } = await client.declareAgents(agents);
for (const warning of warnings) console.log('note:', warning);
// #endregion

// #region toolkit
for (const agent of Object.keys(declared)) {
  const session = await client.openSession({ subject: 'ada', agent });
  const { tools, missing } = await client.toolkit(session);
  console.log(agent, 'has', tools.map(({ tool }) => tool.id).join() || 'nothing');
  for (const { tool, reason } of missing) console.log(agent, 'lacks', tool, 'because', reason);
}
// #endregion
await client.close();
