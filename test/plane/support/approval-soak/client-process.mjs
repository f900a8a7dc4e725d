// A caller or an approver of the soak, in a process of its own. CLIENT holds its options as JSON. Orders come over IPC; each is tried
// until the store has answered: one that was killed in between gave no answer, and whoever gave the order gives it again.
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../../../dist/exports/client.js';

const client = await connect(JSON.parse(process.env.CLIENT));

function obey(order) {
  if (order.kind === 'decide') return client.approvals.decide(order.approver, order.approval, order.decision);
  const { session, tool, args, key, waitMs } = order;
  return client.call(session, tool, args, { key, waitMs, deadlineMs: 600_000 });
}

/** While the store is away a call can only be tried again. */
async function insist(order) {
  for (;;) {
    try {
      return { answer: await obey(order) };
    } catch (error) {
      if (!/^STORE_|^REDIS_/.test(error?.code ?? '')) return { problem: `${error?.code} ${error?.stack}` };
      await pause(50);
    }
  }
}

process.on('message', async ({ id, order }) => process.send({ id, ...(await insist(order)) }));
console.log('ready');
