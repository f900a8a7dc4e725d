import { connect } from 'sallyport/client';

const client = await connect({ store: 'embedded', mode: 'connect' });
const session = await client.openSession({ subject: 'ada', agent: 'assistant' });
const answer = await client.call(session, 'clock.now', { timeZone: 'Europe/Paris' });
if (answer.kind === 'pending') console.log('still running:', answer.callId);
else if (answer.outcome.kind === 'ok') console.log(answer.outcome.structured);
else console.error(answer.outcome.error?.message);
// What loop detection tells the model about a call that repeats others.
if (answer.kind !== 'pending' && answer.outcome.advice !== undefined) console.warn(answer.outcome.advice);
await client.close();
