import { connect } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });

// #region declare
const declared = await client.declareAgents({
  assistant: {
    description: 'Talks to people.',
    selection: [
      { module: 'clock', tools: 'all' },
      { module: 'reports', tools: ['read', 'write'] },
    ],
  },
  archivist: [{ setup_id: 'reports', triggers: { write: true, read: false } }],
});
if (declared.selectingBegan) console.log('agents that are not declared have no tools from now on');
for (const warning of declared.warnings) console.warn(warning);
// #endregion
console.log('declared', declared.changed, Object.keys(declared.declared).join());

// #region tenant
await client.declareAgents({ assistant: [{ module: 'reports', tools: ['read'] }] }, { tenant: 'acme' });
// #endregion

// #region remove
const { removed } = await client.declareAgents({ archivist: null });
// #endregion
console.log('removed', removed.join());
await client.close();
