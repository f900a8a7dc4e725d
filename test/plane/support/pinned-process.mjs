// A caller that serves pinned tools itself. PINNED holds its options as JSON. Orders arrive as messages, and answers are sent as messages.
import { connect } from '../../../dist/exports/client.js';
import { servePinned } from '../../../dist/exports/worker.js';

const options = JSON.parse(process.env.PINNED);
const pinned = await servePinned(options);
const client = await connect({ ...options, pinned });
pinned.failed.catch((error) => {
  console.log(`failed ${error.code}`);
  process.exit(70);
});

process.on('message', async ({ id, session, tool, args, more }) => {
  const answer = await client.call(session, tool, args, more).catch((error) => ({ thrown: error.message }));
  process.send({ id, answer });
});
process.on('SIGTERM', async () => {
  await pinned.drain();
  await client.close();
  process.exit(0);
});
console.log(`ready ${pinned.workerId}`);
