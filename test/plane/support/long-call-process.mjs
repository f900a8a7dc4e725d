// A caller in a separate process. LONG_CALL states the session and what to do with it, as JSON.
import { connect } from '../../../dist/exports/client.js';

const { store, session, do: what, tool, args, callId, options, stay } = JSON.parse(process.env.LONG_CALL);
const client = await connect(store.store === 'embedded' ? { ...store, mode: 'connect' } : store);
const answer =
  what === 'call'
    ? await client.call(session, tool, args, options)
    : what === 'wait'
      ? await client.wait(session, callId, { waitMs: 30_000 })
      : await client.cancel(session, callId);
console.log(`answer ${JSON.stringify(answer)}`);
if (stay) setInterval(() => {}, 1000);
else await client.close();
